-- Where stimuli and bookmarks meet.
--
-- Each operation is one statement, and so one transaction. Two of them that run at once do not see each other's rows, so
-- a stimulus could find no bookmark while the bookmark finds no stimulus. Whoever brings either takes the lock of its
-- hash first, and looks then: each statement of these functions sees whatever was committed before it began, and a
-- lock is let go of after its transaction can be seen.
--
-- The order in which everything is locked, so that nobody waits in a circle:
--   1. the row of an instance (claim, commit, import, delete, cancel);
--   2. rows of errands that are consumed, of keys, of activations;
--   3. the locks of hashes and instances, all at once, in the order of their numbers (`store_meet_v1`);
--   4. rows of bookmarks and waiting stimuli, and errands that are added, by their names.
-- Where two still meet crosswise, the server ends one of them, nothing of it was done, and the store tries it again.
--
-- There are 4096 locks for hashes and as many for instances: two that share one wait for each other for a moment, and an
-- instance with a million bookmarks needs no more than the server has room for.

-- The lock of a hash.
CREATE OR REPLACE FUNCTION SCHEMA.store_hash_v1(_hash bytea) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$ SELECT (get_byte(_hash, 0) << 4) | (get_byte(_hash, 1) >> 4) $$;

-- The lock of an instance: taken by whoever ends it, and whoever sends something to it alone.
CREATE OR REPLACE FUNCTION SCHEMA.store_end_v1(_instance text) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$ SELECT 4096 | (hashtext(_instance) & 4095) $$;

-- Takes locks, until the transaction ends. CLASS is a number of this store's own: locks with two numbers never meet
-- those with one, which are the names of lockwork's locks.
CREATE OR REPLACE FUNCTION SCHEMA.store_meet_v1(_locks integer[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION USING ERRCODE = 'LW006', MESSAGE = 'the transaction is not READ COMMITTED';
    END IF;
    IF cardinality(_locks) = 1 THEN
        PERFORM pg_advisory_xact_lock(CLASS, _locks[1]);
        RETURN;
    END IF;
    -- Each is taken as it comes, in their order.
    PERFORM pg_advisory_xact_lock(CLASS, one)
    FROM (SELECT DISTINCT one FROM unnest(_locks) AS one ORDER BY one) AS ordered;
END $$;

-- An index has no room for names without an end: a longer one is known by its hash, and kept beside it. The hash is a
-- function of its own, as the server puts the other in its place then instead of calling it.
CREATE OR REPLACE FUNCTION SCHEMA.store_hashed_v1(_id text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT 'long/' || upper(encode(sha256(convert_to('id|' || _id, 'UTF8')), 'hex'))
$$;

CREATE OR REPLACE FUNCTION SCHEMA.store_name_v1(_id text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN octet_length(_id) <= 1000 THEN _id ELSE SCHEMA.store_hashed_v1(_id) END
$$;

CREATE OR REPLACE FUNCTION SCHEMA.store_long_v1(_id text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT CASE WHEN octet_length(_id) > 1000 THEN _id END $$;

-- Whatever stands in the way of a bookmark is gone, or the bookmark is new: the oldest stimulus that waits for it gets
-- it, or its time comes. Under the lock of its hash. Says whether there is something to be done now.
CREATE OR REPLACE FUNCTION SCHEMA.store_offer_v1(_instance text, _bookmark text, _now bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    _at SCHEMA.bookmark;
    _found SCHEMA.waiting;
BEGIN
    SELECT * INTO _at FROM SCHEMA.bookmark WHERE instance = _instance AND id = _bookmark;
    IF NOT FOUND OR EXISTS (
        SELECT FROM SCHEMA.errand WHERE instance = _instance AND bookmark = _bookmark
    ) THEN
        RETURN false;
    END IF;
    DELETE FROM SCHEMA.waiting WHERE seq = (
        SELECT seq FROM SCHEMA.waiting WHERE hash = _at.hash
            AND (to_instance IS NULL OR to_instance = _instance)
            AND (to_correlation IS NULL OR to_correlation = _at.correlation)
            AND (to_execution IS NULL OR to_execution = _at.execution)
            AND (to_bookmark IS NULL OR to_bookmark = _bookmark)
        ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING * INTO _found;
    IF FOUND THEN
        INSERT INTO SCHEMA.errand (id, long, kind, instance, bookmark, stimulus, own, due, free)
        VALUES (SCHEMA.store_name_v1(_found.id || '/' || _bookmark),
            SCHEMA.store_long_v1(_found.id || '/' || _bookmark), 1, _instance, _bookmark, _found.stimulus,
            _found.to_instance IS NOT NULL, _now, _now)
        ON CONFLICT (id) DO NOTHING;
        IF _at.timer IS NOT NULL THEN
            UPDATE SCHEMA.bookmark SET timer = NULL WHERE instance = _instance AND id = _bookmark;
        END IF;
        RETURN true;
    END IF;
    IF _at.due IS NOT NULL THEN
        -- Whatever `timer` seems to be: somebody may be about to fire it, and to find it promised still.
        UPDATE SCHEMA.bookmark SET timer = due WHERE instance = _instance AND id = _bookmark;
    END IF;
    RETURN false;
END $$;

-- An errand for a bookmark is gone: whoever it had kept from there has a chance.
CREATE OR REPLACE FUNCTION SCHEMA.store_freed_v1(_instance text, _bookmark text, _now bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    _hash bytea;
BEGIN
    SELECT hash INTO _hash FROM SCHEMA.bookmark WHERE instance = _instance AND id = _bookmark;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM SCHEMA.store_meet_v1(ARRAY[SCHEMA.store_hash_v1(_hash)]);
    RETURN SCHEMA.store_offer_v1(_instance, _bookmark, _now);
END $$;
