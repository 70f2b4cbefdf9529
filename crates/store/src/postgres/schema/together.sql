-- Many at once. How they are done is decided once, and not anew for however many there are, which takes as long as doing
-- it. That is when tables are still empty, and reading all of such a table is as good as any way; so that way is ruled
-- out.

-- New ones, with their errands, of which nothing but an id can stand in the way. Of those that are there already nothing is
-- told.
CREATE OR REPLACE FUNCTION SCHEMA.store_creates_v1(
    _instance text[], _of text[], _sub_status smallint[], _correlation text[], _state text[], _claim text[],
    _errand_of text[], _errand text[], _errand_kind smallint[], _errand_instance text[], _errand_bookmark text[],
    _errand_body text[], _errand_stimulus text[], _errand_due bigint[], _errand_until bigint[], _errand_hold text[],
    OUT o_made text[], OUT o_hold text[], OUT o_attempts integer[]
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    WITH made AS (
        INSERT INTO SCHEMA.instance (id, of, sub_status, over, correlation, state, epoch, claim_id)
        SELECT one.id, one.of, one.sub_status, false, one.correlation, one.state,
            CASE WHEN one.claim IS NULL THEN 0 ELSE 1 END, coalesce(one.claim, '')
        FROM unnest(_instance, _of, _sub_status, _correlation, _state, _claim)
            AS one (id, of, sub_status, correlation, state, claim)
        ON CONFLICT (id) DO NOTHING RETURNING id
    ) SELECT array_agg(id) INTO o_made FROM made;
    WITH added AS (
        INSERT INTO SCHEMA.errand AS at
            (id, long, kind, instance, bookmark, body, stimulus, due, free, hold, attempts)
        SELECT SCHEMA.store_name_v1(one.id), SCHEMA.store_long_v1(one.id), one.kind, one.instance, one.bookmark, one.body,
            one.stimulus, one.due, one.until, one.hold, 1
        FROM unnest(_errand_of, _errand, _errand_kind, _errand_instance, _errand_bookmark, _errand_body, _errand_stimulus,
            _errand_due, _errand_until, _errand_hold)
            AS one (made, id, kind, instance, bookmark, body, stimulus, due, until, hold)
        WHERE one.made = ANY (o_made)
        ON CONFLICT (id) DO UPDATE SET free = excluded.free, hold = excluded.hold, attempts = at.attempts + 1
        RETURNING at.hold, at.attempts
    ) SELECT array_agg(hold), array_agg(attempts) INTO o_hold, o_attempts FROM added;
END $$;

-- Claims, each of an instance of its own, and none waits for the disk.
CREATE OR REPLACE FUNCTION SCHEMA.store_claims_v1(_instance text[], _claim text[])
RETURNS TABLE (o_instance text, o_epoch bigint, o_version bigint, o_state text, o_cancel boolean, o_committed_by text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
    SET enable_mergejoin = off AS $$
BEGIN
    RETURN QUERY UPDATE SCHEMA.instance AS at SET epoch = at.epoch + 1, claim_id = one.claim
        FROM unnest(_instance, _claim) AS one (id, claim) WHERE at.id = one.id
        RETURNING at.id, at.epoch, at.version, at.state, at.cancel, at.committed_by;
    PERFORM set_config('synchronous_commit', 'off', true);
END $$;

-- Commits, each of an instance of its own that waits for nothing afterwards and asks for nothing. One that is refused, or
-- not as simple as that after all, lets none of them happen (LW007): they are tried one by one then.
CREATE OR REPLACE FUNCTION SCHEMA.store_commits_v1(
    _instance text[], _epoch bigint[], _claim text[], _version bigint[],
    _state text[], _sub_status smallint[], _over boolean[], _finished bigint[], _correlation text[],
    _journal text[], _last bigint[],
    _consumes text[], _consumes_hold text[], _consumes_stays boolean[],
    _removed_of text[], _removed text[]
) RETURNS TABLE (o_instance text, o_version bigint, o_cancel boolean)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
    SET enable_mergejoin = off AS $$
DECLARE
    _wanted integer;
    _count integer;
BEGIN
    IF true = ANY (_over) THEN
        -- Before any row is held, and in order, as everywhere.
        PERFORM SCHEMA.store_meet_v1(ARRAY(
            SELECT SCHEMA.store_end_v1(one.id) FROM unnest(_instance, _over) AS one (id, over) WHERE one.over
        ));
    END IF;
    RETURN QUERY UPDATE SCHEMA.instance AS at SET state = one.state, version = at.version + 1, committed_by = one.claim,
            sub_status = one.sub_status, over = one.over, finished = one.finished, correlation = one.correlation,
            cancel = at.cancel AND NOT one.over
        FROM unnest(_instance, _epoch, _claim, _version, _state, _sub_status, _over, _finished, _correlation)
            AS one (id, epoch, claim, version, state, sub_status, over, finished, correlation)
        WHERE at.id = one.id AND at.epoch = one.epoch AND at.claim_id = one.claim AND at.version = one.version
            AND at.activation IS NULL
        RETURNING at.id, at.version, at.cancel;
    GET DIAGNOSTICS _count = ROW_COUNT;
    _wanted := cardinality(_instance);
    IF _count = _wanted AND _consumes <> '{}' THEN
        DELETE FROM SCHEMA.errand AS at USING unnest(_consumes, _consumes_hold, _consumes_stays) AS one (id, hold, stays)
        WHERE at.id = one.id AND at.hold = one.hold AND NOT one.stays;
        GET DIAGNOSTICS _count = ROW_COUNT;
        _wanted := cardinality(array_positions(_consumes_stays, false));
        IF _count = _wanted AND true = ANY (_consumes_stays) THEN
            -- Not locked: whoever is handed one meanwhile claims its instance after this.
            SELECT count(*) INTO _count FROM SCHEMA.errand AS at, unnest(_consumes, _consumes_hold, _consumes_stays)
                AS one (id, hold, stays)
            WHERE at.id = one.id AND at.hold = one.hold AND at.attempts = 1 AND one.stays;
            _wanted := cardinality(array_positions(_consumes_stays, true));
        END IF;
    END IF;
    IF _count <> _wanted THEN
        RAISE EXCEPTION USING ERRCODE = 'LW007', MESSAGE = 'not all of them count';
    END IF;
    INSERT INTO SCHEMA.journal (instance, version, last, claim_id, entries)
    SELECT one.id, one.version + 1, one.last, one.claim, one.journal
    FROM unnest(_instance, _version, _last, _claim, _journal) AS one (id, version, last, claim, journal)
    WHERE one.journal IS NOT NULL;
    IF _removed <> '{}' THEN
        DELETE FROM SCHEMA.bookmark AS at USING unnest(_removed_of, _removed) AS one (instance, id)
        WHERE at.instance = one.instance AND at.id = one.id;
        DELETE FROM SCHEMA.job WHERE bookmark = ANY (_removed);
        DELETE FROM SCHEMA.task WHERE bookmark = ANY (_removed);
    END IF;
    IF true = ANY (_over) THEN
        DELETE FROM SCHEMA.waiting WHERE to_instance = ANY (ARRAY(
            SELECT one.id FROM unnest(_instance, _over) AS one (id, over) WHERE one.over
        ));
    END IF;
END $$;
