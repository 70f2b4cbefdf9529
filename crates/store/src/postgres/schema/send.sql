-- Stimuli on their way.

-- Tells everybody for whom a stimulus is; if that is nobody, it waits, unless it has expired before it was sent. A row for each errand that the sender holds, and a
-- last one that says what became of the stimulus.
CREATE OR REPLACE FUNCTION SCHEMA.store_send_v1(
    -- `_correlation` is a text in JSON, for whoever is started.
    _id text, _hash bytea, _stimulus text, _input text, _correlation text,
    _to_instance text, _to_correlation text, _to_execution text, _to_bookmark text, _key text,
    _now bigint, _expires bigint, _until bigint, _hold text,
    _consumes text, _consumes_hold text,
    -- The dead letter that is tried once more by this.
    _dead text
) RETURNS TABLE (
    o_id text, o_instance text, o_bookmark text, o_body text, o_hold text, o_attempts integer,
    o_queued boolean, o_duplicate boolean, o_rings boolean, o_dead boolean
) LANGUAGE plpgsql AS $$
DECLARE
    _holds boolean := _until > _now;
    _certain boolean := _to_instance IS NOT NULL OR _to_execution IS NOT NULL OR _to_bookmark IS NOT NULL;
    _freed_instance text;
    _freed text;
    _freed_hash bytea;
    _locks integer[] := ARRAY[SCHEMA.store_hash_v1(_hash)];
    _instances text[];
    _bookmarks text[];
    _busy boolean[];
    _told integer := 0;
    _count integer;
    _waits boolean;
    _lasts boolean;
    _again boolean := false;
    _rings boolean := false;
BEGIN
    IF _dead IS NOT NULL THEN
        UPDATE SCHEMA.dead_letter SET replayed = _now WHERE id = _dead AND replayed IS NULL;
        IF NOT FOUND THEN
            o_dead := false;
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    IF _consumes IS NOT NULL THEN
        DELETE FROM SCHEMA.errand WHERE id = _consumes AND hold = _consumes_hold
        RETURNING instance, bookmark INTO _freed_instance, _freed;
        IF NOT FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'LW002', MESSAGE = 'handed to somebody else since';
        END IF;
    END IF;
    IF _key IS NOT NULL THEN
        INSERT INTO SCHEMA.stimulus_key (key, came) VALUES (_key, _now)
        ON CONFLICT (key) DO UPDATE SET came = excluded.came RETURNING xmax::text <> '0' INTO _again;
    END IF;
    IF _to_instance IS NOT NULL THEN
        _locks := _locks || SCHEMA.store_end_v1(_to_instance);
    END IF;
    IF _freed IS NOT NULL THEN
        SELECT hash INTO _freed_hash FROM SCHEMA.bookmark WHERE instance = _freed_instance AND id = _freed;
        IF FOUND THEN
            _locks := _locks || SCHEMA.store_hash_v1(_freed_hash);
        ELSE
            _freed := NULL;
        END IF;
    END IF;
    PERFORM SCHEMA.store_meet_v1(_locks);
    IF _freed IS NOT NULL THEN
        _rings := SCHEMA.store_offer_v1(_freed_instance, _freed, _now);
    END IF;
    IF _again THEN
        o_queued := false; o_duplicate := true; o_rings := _rings; o_dead := true;
        RETURN NEXT;
        RETURN;
    END IF;
    IF NOT _certain THEN
        RETURN QUERY INSERT INTO SCHEMA.errand AS at (id, long, kind, instance, body, due, free, hold, attempts)
            SELECT SCHEMA.store_name_v1('start/' || one.name), SCHEMA.store_long_v1('start/' || one.name), 2, one.instance,
                '{"start":{"instance":"' || one.instance || '","create":{"definition":{"version":'
                || to_json(one.version)::text || '},"input":{}'
                || coalesce(',"correlation":' || _correlation, '')
                || '},"run":{"target":{"trigger":' || to_json(one.node)::text || '},"input":' || _input || '}}}',
                _now, CASE WHEN _holds THEN _until ELSE _now END,
                CASE WHEN _holds THEN _hold || 's' || one.number END, CASE WHEN _holds THEN 1 ELSE 0 END
            FROM (
                SELECT version, node, number, name,
                    left(encode(sha256(convert_to('instance|' || name, 'UTF8')), 'hex'), 32) AS instance
                FROM (
                    SELECT version, node, number, _id || '-' || number AS name FROM (
                        SELECT version, node, row_number() OVER (ORDER BY definition, ordinal) - 1 AS number
                        FROM SCHEMA.trigger WHERE hash = _hash
                    ) AS numbered
                ) AS named
            ) AS one
            ORDER BY one.number
            ON CONFLICT (id) DO UPDATE SET free = CASE WHEN _holds THEN excluded.free ELSE at.free END,
                hold = CASE WHEN _holds THEN excluded.hold ELSE at.hold END, attempts = at.attempts + excluded.attempts
            RETURNING coalesce(at.long, at.id), at.instance, NULL::text, at.body, at.hold, at.attempts, false, false, false, true;
        GET DIAGNOSTICS _told = ROW_COUNT;
    END IF;
    -- Whether something else resumes a bookmark first is asked once, so that nobody falls between two answers.
    IF _to_instance IS NOT NULL THEN
        SELECT array_agg(at.instance), array_agg(at.id), array_agg(at.busy) INTO _instances, _bookmarks, _busy FROM (
            SELECT instance, id, burns AND EXISTS (
                SELECT FROM SCHEMA.errand AS other WHERE other.instance = mark.instance AND other.bookmark = mark.id
            ) AS busy
            FROM SCHEMA.bookmark AS mark WHERE instance = _to_instance AND hash = _hash
                AND (_to_correlation IS NULL OR correlation = _to_correlation)
                AND (_to_execution IS NULL OR execution = _to_execution)
                AND (_to_bookmark IS NULL OR id = _to_bookmark)
            ORDER BY id
        ) AS at;
    ELSIF _to_correlation IS NOT NULL THEN
        SELECT array_agg(at.instance), array_agg(at.id), array_agg(at.busy) INTO _instances, _bookmarks, _busy FROM (
            SELECT DISTINCT ON (id) instance, id, burns AND EXISTS (
                SELECT FROM SCHEMA.errand AS other WHERE other.instance = mark.instance AND other.bookmark = mark.id
            ) AS busy
            FROM SCHEMA.bookmark AS mark WHERE hash = _hash AND correlation = _to_correlation
                AND (_to_execution IS NULL OR execution = _to_execution)
                AND (_to_bookmark IS NULL OR id = _to_bookmark)
            ORDER BY id
        ) AS at;
    ELSE
        SELECT array_agg(at.instance), array_agg(at.id), array_agg(at.busy) INTO _instances, _bookmarks, _busy FROM (
            SELECT DISTINCT ON (id) instance, id, burns AND EXISTS (
                SELECT FROM SCHEMA.errand AS other WHERE other.instance = mark.instance AND other.bookmark = mark.id
            ) AS busy
            FROM SCHEMA.bookmark AS mark WHERE hash = _hash
                AND (_to_execution IS NULL OR execution = _to_execution)
                AND (_to_bookmark IS NULL OR id = _to_bookmark)
            ORDER BY id
        ) AS at;
    END IF;
    IF _bookmarks IS NOT NULL THEN
        RETURN QUERY INSERT INTO SCHEMA.errand AS at
                (id, long, kind, instance, bookmark, stimulus, due, free, hold, attempts)
            SELECT SCHEMA.store_name_v1(_id || '/' || one.id), SCHEMA.store_long_v1(_id || '/' || one.id), 1, one.instance, one.id, _stimulus, _now,
                CASE WHEN _holds THEN _until ELSE _now END,
                CASE WHEN _holds THEN _hold || 'd' || one.number END, CASE WHEN _holds THEN 1 ELSE 0 END
            FROM unnest(_instances, _bookmarks, _busy) WITH ORDINALITY AS one (instance, id, busy, number)
            WHERE NOT one.busy ORDER BY one.number
            ON CONFLICT (id) DO UPDATE SET free = CASE WHEN _holds THEN excluded.free ELSE at.free END,
                hold = CASE WHEN _holds THEN excluded.hold ELSE at.hold END, attempts = at.attempts + excluded.attempts
            RETURNING coalesce(at.long, at.id), at.instance, at.bookmark, NULL::text, at.hold, at.attempts, false, false, false, true;
        GET DIAGNOSTICS _count = ROW_COUNT;
        _told := _told + _count;
    END IF;
    -- Whoever it is for may never wait again.
    _lasts := _expires IS NULL OR _expires >= _now;
    _waits := _lasts AND _told = 0 AND NOT (
        _to_instance IS NOT NULL
        AND coalesce((SELECT over FROM SCHEMA.instance WHERE id = _to_instance), false)
    );
    IF _lasts AND true = ANY (_busy) THEN
        INSERT INTO SCHEMA.waiting (id, hash, to_instance, to_correlation, to_execution, to_bookmark, created, expires,
            stimulus)
        SELECT _id || '@' || one.instance, _hash, one.instance, _to_correlation, _to_execution, _to_bookmark, _now,
            _expires, _stimulus
        FROM (
            SELECT DISTINCT each.instance FROM unnest(_instances, _busy) AS each (instance, busy) WHERE each.busy
            ORDER BY each.instance
        ) AS one;
    ELSIF _waits THEN
        INSERT INTO SCHEMA.waiting (id, hash, to_instance, to_correlation, to_execution, to_bookmark, created, expires,
            stimulus)
        VALUES (_id, _hash, _to_instance, _to_correlation, _to_execution, _to_bookmark, _now, _expires, _stimulus);
    END IF;
    o_id := NULL; o_queued := _waits; o_duplicate := false; o_dead := true;
    o_rings := _rings OR (_told > 0 AND NOT _holds);
    RETURN NEXT;
END $$;

-- Those that have waited too long become dead letters; what is old enough is forgotten.
CREATE OR REPLACE FUNCTION SCHEMA.store_purge_v1(_now bigint, _forget bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    _expired bigint;
BEGIN
    WITH expired AS (
        DELETE FROM SCHEMA.waiting WHERE seq IN (
            SELECT seq FROM SCHEMA.waiting WHERE expires <= _now FOR UPDATE SKIP LOCKED
        ) RETURNING *
    ), buried AS (
        INSERT INTO SCHEMA.dead_letter (id, at, reason, stimulus_id, stimulus, to_instance, created, expires)
        SELECT SCHEMA.store_name_v1(id), _now, '"expired"', id, stimulus, to_instance, created, expires
        FROM expired ORDER BY seq
        ON CONFLICT (id) DO NOTHING
    ) SELECT count(*) INTO _expired FROM expired;
    DELETE FROM SCHEMA.dead_letter WHERE at < _forget;
    DELETE FROM SCHEMA.stimulus_key WHERE came < _forget;
    RETURN _expired;
END $$;

-- Tries an errand once more that failed, under another name.
CREATE OR REPLACE FUNCTION SCHEMA.store_replay_v1(
    _dead text, _now bigint, _id text, _kind smallint, _instance text, _bookmark text, _body text, _stimulus text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE SCHEMA.dead_letter SET replayed = _now WHERE id = _dead AND replayed IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO SCHEMA.errand (id, long, kind, instance, bookmark, body, stimulus, due, free)
    VALUES (SCHEMA.store_name_v1(_id), SCHEMA.store_long_v1(_id), _kind, _instance, _bookmark, _body, _stimulus, _now, _now)
    ON CONFLICT (id) DO NOTHING;
    RETURN true;
END $$;
