-- Commits, and instances as they come and go.

-- Refuses a commit to an instance that was claimed since, or is gone.
CREATE OR REPLACE FUNCTION SCHEMA.store_refuse_v1(_instance text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM SCHEMA.instance WHERE id = _instance) THEN
        RAISE EXCEPTION USING ERRCODE = 'LW001', MESSAGE = 'claimed since';
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'LW003', MESSAGE = 'no such instance';
END $$;

-- One only may run: this one does, or does not any more.
CREATE OR REPLACE FUNCTION SCHEMA.store_activate_v1(_key text, _instance text, _runs boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    _other text;
BEGIN
    IF _runs THEN
        INSERT INTO SCHEMA.activation (key, instance) VALUES (_key, _instance) ON CONFLICT (key) DO NOTHING;
    END IF;
    SELECT instance INTO _other FROM SCHEMA.activation WHERE key = _key;
    IF _other <> _instance THEN
        RAISE EXCEPTION USING ERRCODE = 'LW004', MESSAGE = 'another one runs', DETAIL = _other;
    END IF;
    IF _runs AND _other IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'LW005', MESSAGE = 'the other one has just ended';
    END IF;
    IF NOT _runs THEN
        DELETE FROM SCHEMA.activation WHERE key = _key AND instance = _instance;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION SCHEMA.store_commit_v1(
    _instance text, _epoch bigint, _claim text, _version bigint,
    _state text, _sub_status smallint, _over boolean, _finished bigint, _correlation text,
    -- Whether bookmarks stay that were there before; of an instance that is over, none does.
    _stay boolean, _now bigint,
    _journal text, _last bigint,
    _removed text[],
    _added text[], _hash bytea[], _execution text[], _burns boolean[], _due bigint[],
    -- The errand that is done, unless it stays: then it has got on, and counts as handed out once.
    _consumes text, _consumes_hold text, _consumes_stays boolean,
    _errand text[], _errand_kind smallint[], _errand_instance text[], _errand_bookmark text[],
    _errand_body text[], _errand_stimulus text[], _errand_due bigint[],
    _job_bookmark text[], _job text[],
    _task_bookmark text[], _task text[],
    _next text, _next_kind smallint, _next_instance text, _next_bookmark text, _next_body text,
    _next_stimulus text, _next_due bigint, _next_until bigint, _next_hold text,
    OUT o_version bigint, OUT o_cancel boolean, OUT o_attempts integer, OUT o_rings boolean
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    _activation text;
    _attempts integer;
    _freed_instance text;
    _freed text;
    _freed_hash bytea;
    _locks integer[] := '{}';
    _moved text[];
    _one text;
BEGIN
    o_rings := false;
    UPDATE SCHEMA.instance SET state = _state, version = version + 1, committed_by = _claim, sub_status = _sub_status,
        over = _over, finished = _finished, correlation = _correlation, cancel = cancel AND NOT _over
    WHERE id = _instance AND epoch = _epoch AND claim_id = _claim AND version = _version
    RETURNING version, cancel, activation INTO o_version, o_cancel, _activation;
    IF NOT FOUND THEN
        PERFORM SCHEMA.store_refuse_v1(_instance);
    END IF;
    IF _consumes_stays THEN
        -- Not locked: whoever is handed it meanwhile claims the instance after this.
        SELECT attempts INTO _attempts FROM SCHEMA.errand WHERE id = _consumes AND hold = _consumes_hold;
        IF NOT FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'LW002', MESSAGE = 'handed to somebody else since';
        ELSIF _attempts <> 1 THEN
            UPDATE SCHEMA.errand SET attempts = 1 WHERE id = _consumes AND hold = _consumes_hold;
        END IF;
    ELSIF _consumes IS NOT NULL THEN
        DELETE FROM SCHEMA.errand WHERE id = _consumes AND hold = _consumes_hold
        RETURNING instance, bookmark INTO _freed_instance, _freed;
        IF NOT FOUND THEN
            RAISE EXCEPTION USING ERRCODE = 'LW002', MESSAGE = 'handed to somebody else since';
        END IF;
    END IF;
    IF _activation IS NOT NULL THEN
        PERFORM SCHEMA.store_activate_v1(_activation, _instance, NOT _over);
    END IF;
    IF _journal IS NOT NULL THEN
        INSERT INTO SCHEMA.journal (instance, version, last, claim_id, entries)
        VALUES (_instance, o_version, _last, _claim, _journal);
    END IF;
    IF _removed <> '{}' THEN
        DELETE FROM SCHEMA.bookmark WHERE instance = _instance AND id = ANY (_removed);
        DELETE FROM SCHEMA.job WHERE bookmark = ANY (_removed);
        DELETE FROM SCHEMA.task WHERE bookmark = ANY (_removed);
    END IF;
    IF _over THEN
        IF _stay THEN
            DELETE FROM SCHEMA.bookmark WHERE instance = _instance;
        END IF;
        _locks := ARRAY[SCHEMA.store_end_v1(_instance)];
    ELSIF _stay THEN
        -- Other stimuli fit an instance with another correlation.
        SELECT array_agg(id), _locks || coalesce(array_agg(SCHEMA.store_hash_v1(hash)), '{}') INTO _moved, _locks
        FROM SCHEMA.bookmark WHERE instance = _instance AND correlation IS DISTINCT FROM _correlation;
        IF _moved IS NOT NULL THEN
            UPDATE SCHEMA.bookmark SET correlation = _correlation WHERE instance = _instance AND id = ANY (_moved);
        END IF;
    END IF;
    IF _freed IS NOT NULL AND NOT _over AND NOT _freed = ANY (_removed) THEN
        SELECT hash INTO _freed_hash FROM SCHEMA.bookmark WHERE instance = _freed_instance AND id = _freed;
        IF FOUND THEN
            _locks := _locks || SCHEMA.store_hash_v1(_freed_hash);
        ELSE
            _freed := NULL;
        END IF;
    ELSE
        _freed := NULL;
    END IF;
    IF _added <> '{}' THEN
        INSERT INTO SCHEMA.bookmark (instance, id, hash, correlation, execution, burns, due, timer)
        SELECT _instance, one.id, one.hash, _correlation, one.execution, one.burns, one.due, one.due
        FROM unnest(_added, _hash, _execution, _burns, _due) AS one (id, hash, execution, burns, due)
        ON CONFLICT (instance, id) DO UPDATE SET hash = excluded.hash, correlation = excluded.correlation,
            execution = excluded.execution, burns = excluded.burns, due = excluded.due, timer = excluded.timer;
        SELECT _locks || array_agg(SCHEMA.store_hash_v1(one)) INTO _locks FROM unnest(_hash) AS one;
    END IF;
    IF cardinality(_locks) = 1 THEN
        PERFORM pg_advisory_xact_lock(CLASS, _locks[1]);
    ELSIF _locks <> '{}' THEN
        PERFORM SCHEMA.store_meet_v1(_locks);
    END IF;
    IF _added <> '{}' AND EXISTS (SELECT FROM SCHEMA.waiting WHERE hash = ANY (_hash)) THEN
        FOREACH _one IN ARRAY _added LOOP
            o_rings := SCHEMA.store_offer_v1(_instance, _one, _now) OR o_rings;
        END LOOP;
    END IF;
    IF _moved IS NOT NULL THEN
        FOREACH _one IN ARRAY _moved LOOP
            o_rings := SCHEMA.store_offer_v1(_instance, _one, _now) OR o_rings;
        END LOOP;
    END IF;
    IF _over THEN
        DELETE FROM SCHEMA.waiting WHERE to_instance = _instance;
    END IF;
    IF _job_bookmark <> '{}' THEN
        INSERT INTO SCHEMA.job (bookmark, instance, job)
        SELECT one.bookmark, _instance, one.job FROM unnest(_job_bookmark, _job) AS one (bookmark, job)
        ON CONFLICT (bookmark) DO UPDATE SET instance = excluded.instance, job = excluded.job, free = 0, hold = NULL,
            attempts = 0;
        o_rings := true;
    END IF;
    IF _task_bookmark <> '{}' THEN
        INSERT INTO SCHEMA.task (bookmark, task)
        SELECT one.bookmark, one.task FROM unnest(_task_bookmark, _task) AS one (bookmark, task)
        ON CONFLICT (bookmark) DO UPDATE SET task = excluded.task;
    END IF;
    IF _errand <> '{}' THEN
        PERFORM SCHEMA.store_add_v1(_errand, _errand_kind, _errand_instance, _errand_bookmark, _errand_body,
            _errand_stimulus, _errand_due);
        o_rings := true;
    END IF;
    IF _next IS NOT NULL THEN
        INSERT INTO SCHEMA.errand (id, long, kind, instance, bookmark, body, stimulus, due, free, hold, attempts)
        VALUES (SCHEMA.store_name_v1(_next), SCHEMA.store_long_v1(_next), _next_kind, _next_instance, _next_bookmark, _next_body, _next_stimulus, _next_due, _next_until,
            _next_hold, 1)
        ON CONFLICT (id) DO UPDATE SET free = excluded.free, hold = excluded.hold,
            attempts = SCHEMA.errand.attempts + 1
        RETURNING attempts INTO o_attempts;
    END IF;
    IF _freed IS NOT NULL THEN
        o_rings := SCHEMA.store_offer_v1(_freed_instance, _freed, _now) OR o_rings;
    END IF;
END $$;
