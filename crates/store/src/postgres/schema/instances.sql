-- Instances as they come and go.

-- Creates one, with its errand. `o_code`: 0 it exists now, 1 there was one, 2 an earlier request had the same key, 3
-- another one runs.
CREATE OR REPLACE FUNCTION SCHEMA.store_create_v1(
    _instance text, _of text, _sub_status smallint, _over boolean, _finished bigint, _correlation text,
    _activation text, _key text, _state text, _now bigint,
    _errand text, _errand_kind smallint, _errand_instance text, _errand_bookmark text, _errand_body text,
    _errand_stimulus text, _errand_due bigint, _errand_until bigint, _errand_hold text,
    _consumes text, _consumes_hold text,
    -- Whoever creates it claims it with this, unless it is null.
    _claim text,
    OUT o_code smallint, OUT o_instance text, OUT o_attempts integer
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    _cancelled boolean := false;
BEGIN
    o_code := 0;
    IF _consumes IS NOT NULL THEN
        SELECT cancelled INTO _cancelled FROM SCHEMA.errand WHERE id = _consumes AND hold = _consumes_hold FOR UPDATE;
        IF NOT FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'LW002', MESSAGE = 'handed to somebody else since';
        END IF;
    END IF;
    IF _key IS NOT NULL THEN
        SELECT id INTO o_instance FROM SCHEMA.instance WHERE key = _key;
        IF FOUND THEN
            o_code := 2;
        END IF;
    END IF;
    IF o_code = 0 AND _activation IS NOT NULL THEN
        IF EXISTS (SELECT FROM SCHEMA.instance WHERE id = _instance) THEN
            o_code := 1;
            RETURN;
        END IF;
        IF NOT _over THEN
            INSERT INTO SCHEMA.activation (key, instance) VALUES (_activation, _instance) ON CONFLICT (key) DO NOTHING;
        END IF;
        IF _over OR NOT FOUND THEN
            SELECT instance INTO o_instance FROM SCHEMA.activation WHERE key = _activation;
            IF FOUND THEN
                o_code := 3;
                RETURN;
            ELSIF NOT _over THEN
                RAISE EXCEPTION USING ERRCODE = 'LW005', MESSAGE = 'the other one has just ended';
            END IF;
        END IF;
    END IF;
    IF o_code = 0 THEN
        INSERT INTO SCHEMA.instance
            (id, of, sub_status, over, finished, correlation, activation, key, cancel, state, epoch, claim_id)
        VALUES (_instance, _of, _sub_status, _over, _finished, _correlation, _activation, _key, _cancelled, _state,
            CASE WHEN _claim IS NULL THEN 0 ELSE 1 END, coalesce(_claim, ''))
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            IF _activation IS NOT NULL THEN
                RAISE EXCEPTION USING ERRCODE = 'LW005', MESSAGE = 'somebody else has just created it';
            END IF;
            SELECT id INTO o_instance FROM SCHEMA.instance WHERE key = _key;
            o_code := CASE WHEN FOUND THEN 2 ELSE 1 END;
        END IF;
    END IF;
    IF o_code = 0 AND _errand IS NOT NULL THEN
        INSERT INTO SCHEMA.errand (id, long, kind, instance, bookmark, body, stimulus, due, free, hold, attempts)
        VALUES (SCHEMA.store_name_v1(_errand), SCHEMA.store_long_v1(_errand), _errand_kind, _errand_instance, _errand_bookmark, _errand_body, _errand_stimulus, _errand_due,
            _errand_until, _errand_hold, 1)
        ON CONFLICT (id) DO UPDATE SET free = excluded.free, hold = excluded.hold,
            attempts = SCHEMA.errand.attempts + 1
        RETURNING attempts INTO o_attempts;
    END IF;
    IF _consumes IS NOT NULL AND o_code IN (0, 2) THEN
        PERFORM SCHEMA.store_done_v1(_consumes, _consumes_hold, _now);
    END IF;
END $$;

-- Everything that belongs to an instance, whose row is gone.
CREATE OR REPLACE FUNCTION SCHEMA.store_clean_v1(_instance text, _activation text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    _bookmarks text[];
BEGIN
    DELETE FROM SCHEMA.errand WHERE instance = _instance;
    IF _activation IS NOT NULL THEN
        DELETE FROM SCHEMA.activation WHERE key = _activation AND instance = _instance;
    END IF;
    DELETE FROM SCHEMA.journal WHERE instance = _instance;
    WITH gone AS (DELETE FROM SCHEMA.bookmark WHERE instance = _instance RETURNING id)
    SELECT array_agg(id) INTO _bookmarks FROM gone;
    IF _bookmarks IS NOT NULL THEN
        DELETE FROM SCHEMA.job WHERE bookmark = ANY (_bookmarks);
        DELETE FROM SCHEMA.task WHERE bookmark = ANY (_bookmarks);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION SCHEMA.store_delete_v1(_instance text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    _activation text;
BEGIN
    DELETE FROM SCHEMA.instance WHERE id = _instance RETURNING activation INTO _activation;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM SCHEMA.store_clean_v1(_instance, _activation);
    PERFORM SCHEMA.store_meet_v1(ARRAY[SCHEMA.store_end_v1(_instance)]);
    DELETE FROM SCHEMA.waiting WHERE to_instance = _instance;
    RETURN true;
END $$;

-- Deletes some that were over long ago, the first of them first.
CREATE OR REPLACE FUNCTION SCHEMA.store_forget_v1(_before bigint, _limit bigint) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
    _ids text[];
    _activations text[];
BEGIN
    WITH old AS (
        SELECT id FROM SCHEMA.instance WHERE finished < _before AND over
        ORDER BY finished, seq LIMIT _limit FOR UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM SCHEMA.instance AS at USING old WHERE at.id = old.id RETURNING at.id, at.activation
    ) SELECT array_agg(id), array_agg(activation) INTO _ids, _activations FROM gone;
    IF _ids IS NULL THEN
        RETURN 0;
    END IF;
    DELETE FROM SCHEMA.errand WHERE instance = ANY (_ids);
    DELETE FROM SCHEMA.activation WHERE key = ANY (_activations) AND instance = ANY (_ids);
    DELETE FROM SCHEMA.journal WHERE instance = ANY (_ids);
    DELETE FROM SCHEMA.bookmark WHERE instance = ANY (_ids);
    PERFORM SCHEMA.store_meet_v1(ARRAY(SELECT SCHEMA.store_end_v1(one) FROM unnest(_ids) AS one));
    DELETE FROM SCHEMA.waiting WHERE to_instance = ANY (_ids);
    RETURN cardinality(_ids);
END $$;

-- Asks for the end of one: null if there is none, otherwise whether it is over.
CREATE OR REPLACE FUNCTION SCHEMA.store_cancel_v1(_instance text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    _over boolean;
BEGIN
    -- Twice: while we wait for the errand that creates it, it may come to be.
    FOR _round IN 1..2 LOOP
        UPDATE SCHEMA.instance SET cancel = cancel OR NOT over WHERE id = _instance RETURNING over INTO _over;
        IF FOUND THEN
            RETURN _over;
        END IF;
        UPDATE SCHEMA.errand SET cancelled = true WHERE instance = _instance AND kind = 2;
        IF FOUND THEN
            RETURN NULL;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- Makes one what is given, whatever it was. `_entries`: how many entries its journal had when `_state` was written.
CREATE OR REPLACE FUNCTION SCHEMA.store_import_v1(
    _instance text, _of text, _sub_status smallint, _over boolean, _finished bigint, _correlation text,
    _activation text, _state text, _entries bigint, _now bigint,
    _bookmark text[], _hash bytea[], _execution text[], _burns boolean[], _due bigint[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    _before text;
    _gone text[];
    _one text;
    _rings boolean := false;
BEGIN
    SELECT activation INTO _before FROM SCHEMA.instance WHERE id = _instance FOR UPDATE;
    IF _entries <> coalesce((SELECT max(last) + 1 FROM SCHEMA.journal WHERE instance = _instance), 0) THEN
        RAISE EXCEPTION USING ERRCODE = 'LW005', MESSAGE = 'more has happened since';
    END IF;
    IF _before IS DISTINCT FROM _activation THEN
        DELETE FROM SCHEMA.activation WHERE key = _before AND instance = _instance;
    END IF;
    IF _activation IS NOT NULL THEN
        PERFORM SCHEMA.store_activate_v1(_activation, _instance, NOT _over);
    END IF;
    INSERT INTO SCHEMA.instance AS at
        (id, of, sub_status, over, finished, correlation, activation, state, epoch, version)
    VALUES (_instance, _of, _sub_status, _over, _finished, _correlation, _activation, _state, 1, 1)
    ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, of = excluded.of, sub_status = excluded.sub_status,
        over = excluded.over, finished = excluded.finished, correlation = excluded.correlation,
        activation = excluded.activation, state = excluded.state, epoch = at.epoch + 1, version = at.version + 1,
        claim_id = '', committed_by = NULL, cancel = false;
    WITH old AS (DELETE FROM SCHEMA.bookmark WHERE instance = _instance RETURNING id)
    SELECT array_agg(id) INTO _gone FROM old WHERE NOT id = ANY (_bookmark);
    IF _gone IS NOT NULL THEN
        -- What is done for a bookmark that comes back is still wanted.
        DELETE FROM SCHEMA.job WHERE bookmark = ANY (_gone);
        DELETE FROM SCHEMA.task WHERE bookmark = ANY (_gone);
    END IF;
    IF _bookmark <> '{}' THEN
        INSERT INTO SCHEMA.bookmark (instance, id, hash, correlation, execution, burns, due)
        SELECT _instance, one.id, one.hash, _correlation, one.execution, one.burns, one.due
        FROM unnest(_bookmark, _hash, _execution, _burns, _due) AS one (id, hash, execution, burns, due);
        PERFORM SCHEMA.store_meet_v1(ARRAY(SELECT SCHEMA.store_hash_v1(one) FROM unnest(_hash) AS one));
        FOREACH _one IN ARRAY _bookmark LOOP
            _rings := SCHEMA.store_offer_v1(_instance, _one, _now) OR _rings;
        END LOOP;
    END IF;
    RETURN _rings;
END $$;
