-- Errands: added, handed out, taken away.

-- Adds some. One that is there already is not added again.
CREATE OR REPLACE FUNCTION SCHEMA.store_add_v1(
    _id text[], _kind smallint[], _instance text[], _bookmark text[], _body text[], _stimulus text[], _due bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(_id) = 1 THEN
        INSERT INTO SCHEMA.errand (id, long, kind, instance, bookmark, body, stimulus, due, free)
        VALUES (SCHEMA.store_name_v1(_id[1]), SCHEMA.store_long_v1(_id[1]), _kind[1], _instance[1], _bookmark[1], _body[1], _stimulus[1], _due[1], _due[1])
        ON CONFLICT (id) DO NOTHING;
        RETURN;
    END IF;
    -- Numbered as they came, and added by name: two that add the same ones wait for each other once, and not in a circle.
    INSERT INTO SCHEMA.errand (seq, id, long, kind, instance, bookmark, body, stimulus, due, free)
    SELECT one.seq, SCHEMA.store_name_v1(one.id), SCHEMA.store_long_v1(one.id), one.kind, one.instance, one.bookmark,
        one.body, one.stimulus, one.due, one.due
    FROM (
        SELECT nextval('SCHEMA.errand_seq_seq') AS seq, asked.* FROM (
            SELECT * FROM unnest(_id, _kind, _instance, _bookmark, _body, _stimulus, _due) WITH ORDINALITY
                AS each (id, kind, instance, bookmark, body, stimulus, due, number)
            ORDER BY number
        ) AS asked
    ) AS one
    ORDER BY one.id COLLATE "C"
    ON CONFLICT (id) DO NOTHING;
END $$;

-- Takes one away, done.
CREATE OR REPLACE FUNCTION SCHEMA.store_done_v1(
    _id text, _hold text, _now bigint, OUT o_done boolean, OUT o_rings boolean
) LANGUAGE plpgsql AS $$
DECLARE
    _instance text;
    _bookmark text;
BEGIN
    o_rings := false;
    DELETE FROM SCHEMA.errand WHERE id = _id AND hold = _hold RETURNING instance, bookmark INTO _instance, _bookmark;
    o_done := FOUND;
    IF _bookmark IS NOT NULL THEN
        o_rings := SCHEMA.store_freed_v1(_instance, _bookmark, _now);
    END IF;
END $$;

-- Takes one away that cannot be done, and keeps it among the dead letters.
CREATE OR REPLACE FUNCTION SCHEMA.store_bury_v1(
    _id text, _hold text, _errand text, _reason text, _now bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    _instance text;
    _bookmark text;
    _stimulus text;
    _rings boolean := false;
BEGIN
    DELETE FROM SCHEMA.errand WHERE id = _id AND hold = _hold
    RETURNING instance, bookmark, stimulus INTO _instance, _bookmark, _stimulus;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'LW002', MESSAGE = 'handed to somebody else since';
    END IF;
    IF _bookmark IS NOT NULL THEN
        _rings := SCHEMA.store_freed_v1(_instance, _bookmark, _now);
        IF _stimulus IS NULL THEN
            -- A time that has come and could not be told: it does not come again.
            UPDATE SCHEMA.bookmark SET timer = NULL WHERE instance = _instance AND id = _bookmark;
        END IF;
    END IF;
    INSERT INTO SCHEMA.dead_letter (id, at, reason, errand) VALUES (_id, _now, _reason, _errand)
    ON CONFLICT (id) DO NOTHING;
    RETURN _rings;
END $$;

-- Makes errands of bookmarks whose time has come; the first row says of how many. The others are schedules that are due:
-- when they come again is known to whoever asks.
--
-- A row of a bookmark is locked before anybody looks whether it is promised: see `store_offer_v1`.
CREATE OR REPLACE FUNCTION SCHEMA.store_fire_v1(_now bigint, _limit bigint)
RETURNS TABLE (
    o_fired integer, o_definition text, o_ordinal integer, o_version text, o_node text, o_hash bytea, o_schedule text,
    o_next bigint
) LANGUAGE plpgsql AS $$
DECLARE
    _instances text[];
    _bookmarks text[];
    _timers bigint[];
BEGIN
    SELECT array_agg(due.instance), array_agg(due.id), array_agg(due.timer) INTO _instances, _bookmarks, _timers
    FROM (
        SELECT instance, id, timer FROM SCHEMA.bookmark WHERE timer <= _now
        ORDER BY timer, id LIMIT _limit FOR UPDATE SKIP LOCKED
    ) AS due;
    o_fired := coalesce(cardinality(_bookmarks), 0);
    IF o_fired > 0 THEN
        UPDATE SCHEMA.bookmark AS at SET timer = NULL FROM unnest(_instances, _bookmarks) AS one (instance, id)
        WHERE at.instance = one.instance AND at.id = one.id;
        INSERT INTO SCHEMA.errand (id, kind, instance, bookmark, body, due, free)
        SELECT 'timer/' || one.id, 1, one.instance, one.id, '{}', one.timer, one.timer
        FROM unnest(_instances, _bookmarks, _timers) WITH ORDINALITY AS one (instance, id, timer, number)
        WHERE NOT EXISTS (
            SELECT FROM SCHEMA.errand AS other WHERE other.instance = one.instance AND other.bookmark = one.id
        )
        ORDER BY one.number
        ON CONFLICT (id) DO NOTHING;
    END IF;
    RETURN NEXT;
    RETURN QUERY SELECT 0, definition, ordinal, version, node, hash, schedule, next FROM SCHEMA.trigger
        WHERE next <= _now AND schedule IS NOT NULL ORDER BY definition, ordinal LIMIT _limit;
END $$;

-- Makes errands of schedules, of those that nobody else has fired since.
CREATE OR REPLACE FUNCTION SCHEMA.store_schedule_v1(
    _definition text[], _ordinal integer[], _version text[], _old bigint[], _new bigint[],
    _id text[], _instance text[], _body text[]
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    _fired bigint[];
BEGIN
    WITH fired AS (
        UPDATE SCHEMA.trigger AS at SET next = one.new
        FROM unnest(_definition, _ordinal, _version, _old, _new) WITH ORDINALITY
            AS one (definition, ordinal, version, old, new, number)
        WHERE at.definition = one.definition AND at.ordinal = one.ordinal AND at.version = one.version
            AND at.next = one.old
        RETURNING one.number
    ) SELECT array_agg(number) INTO _fired FROM fired;
    INSERT INTO SCHEMA.errand (id, long, kind, instance, body, due, free)
    SELECT SCHEMA.store_name_v1(one.id), SCHEMA.store_long_v1(one.id), 2, one.instance, one.body, one.old, one.old
    FROM unnest(_id, _instance, _body, _old) WITH ORDINALITY AS one (id, instance, body, old, number)
    WHERE one.number = ANY (_fired) AND one.id IS NOT NULL ORDER BY one.number
    ON CONFLICT (id) DO NOTHING;
    RETURN coalesce(cardinality(_fired), 0);
END $$;
