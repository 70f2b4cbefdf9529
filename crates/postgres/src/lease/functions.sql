-- Locks as rows with a lease. Every function first takes the lock's number for as long as its
-- transaction lasts, which is one message and no more; what comes after that is serial for each
-- lock. A statement sees what was committed before it began (`READ COMMITTED`, which is checked), so
-- whoever had to wait for the number sees what the one before it did. Time is this server's alone.

CREATE TABLE IF NOT EXISTS SCHEMA.lease (
  key bytea NOT NULL,
  owner bytea NOT NULL,
  -- 0: nobody, released before it was asked for; 1 exclusive, 2 read, 3 upgradeable, 4 write, 5 permit
  mode smallint NOT NULL,
  -- Not in yet: it asks again and again, and is forgotten when it does not.
  waits boolean NOT NULL,
  -- A writer that was an upgradeable reader, and is to be one again if that is taken back.
  upgraded boolean NOT NULL DEFAULT false,
  -- Of how many permits.
  permits bigint NOT NULL,
  token bigint,
  since timestamptz NOT NULL,
  expires timestamptz NOT NULL,
  -- Until when an upgradeable reader that wants to write keeps new readers out.
  wishes timestamptz,
  client text NOT NULL,
  PRIMARY KEY (key, owner)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 1000);

-- Begins what a function does with one lock, and says what time it is then.
CREATE OR REPLACE FUNCTION SCHEMA.lease_begin_v1(number bigint) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $lockwork$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'lockwork needs READ COMMITTED' USING ERRCODE = 'invalid_transaction_state';
  END IF;
  PERFORM pg_advisory_xact_lock(number);
  RETURN clock_timestamp();
END $lockwork$;

-- This transaction is to wait for the disk: somebody will rely on what it does.
CREATE OR REPLACE FUNCTION SCHEMA.lease_lasts_v1() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $lockwork$
DECLARE
  usual text := current_setting('lockwork.usual', true);
BEGIN
  IF usual <> '' THEN
    PERFORM set_config('synchronous_commit', usual, true);
  END IF;
END $lockwork$;

-- Takes a lock. 1: it is the owner's now, or was already, with its token. 2: somebody is in the way,
-- for so many milliseconds at the longest. 3: this owner has released it before.
CREATE OR REPLACE FUNCTION SCHEMA.lease_take_v1(
  number bigint, k bytea, o bytea, m smallint, size bigint, lasts bigint, waiting boolean,
  waiter_lasts bigint, who bytea, OUT verdict smallint, OUT answer bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $lockwork$
DECLARE
  now timestamptz := SCHEMA.lease_begin_v1(number);
  mine SCHEMA.lease;
  other record;
  is_free boolean;
BEGIN
  DELETE FROM SCHEMA.lease WHERE key = k AND expires <= now;
  SELECT * INTO mine FROM SCHEMA.lease WHERE key = k AND owner = o;
  IF mine.mode = 0 THEN
    verdict := 3;
    RETURN;
  END IF;
  IF NOT mine.waits THEN
    PERFORM SCHEMA.lease_lasts_v1();
    UPDATE SCHEMA.lease SET expires = now + lasts * interval '1 ms' WHERE key = k AND owner = o;
    verdict := 1;
    answer := mine.token;
    RETURN;
  END IF;
  SELECT count(*) FILTER (WHERE NOT waits AND mode = 1) AS exclusive,
    count(*) FILTER (WHERE NOT waits AND mode = 2) AS readers,
    count(*) FILTER (WHERE NOT waits AND mode = 3) AS upgradeable,
    count(*) FILTER (WHERE NOT waits AND mode = 4) AS writers,
    count(*) FILTER (WHERE NOT waits AND mode = 5) AS permits,
    count(*) FILTER (WHERE waits AND mode = 4 OR wishes > now) AS want_to_write,
    min(expires) FILTER (WHERE NOT waits AND mode <> 0) AS expires
  INTO other FROM SCHEMA.lease WHERE key = k AND owner <> o;
  -- The table of `Present` in the core crate, and that no reader overtakes a writer.
  is_free := CASE m
    WHEN 1 THEN other.exclusive + other.readers + other.upgradeable + other.writers + other.permits = 0
    WHEN 2 THEN other.exclusive + other.writers + other.permits + other.want_to_write = 0
    WHEN 3 THEN other.exclusive + other.upgradeable + other.writers + other.permits
      + other.want_to_write = 0
    WHEN 4 THEN other.exclusive + other.readers + other.upgradeable + other.writers + other.permits = 0
    WHEN 5 THEN other.exclusive + other.readers + other.upgradeable + other.writers = 0
      AND other.permits < size
    ELSE false END;
  IF is_free THEN
    PERFORM SCHEMA.lease_lasts_v1();
    verdict := 1;
    answer := CASE WHEN m IN (1, 4) THEN nextval('SCHEMA.token'::regclass) END;
    INSERT INTO SCHEMA.lease (key, owner, mode, waits, permits, token, since, expires, client)
      VALUES (k, o, m, false, size, answer, now, now + lasts * interval '1 ms',
        convert_from(who, 'UTF8'))
      ON CONFLICT (key, owner) DO UPDATE SET mode = excluded.mode, waits = false,
        permits = excluded.permits, token = excluded.token, since = excluded.since,
        expires = excluded.expires, client = excluded.client;
    RETURN;
  END IF;
  verdict := 2;
  answer := ceil(extract(epoch FROM other.expires - now) * 1000)::bigint;
  IF NOT waiting THEN
    DELETE FROM SCHEMA.lease WHERE key = k AND owner = o;
  ELSIF mine.key IS NULL THEN
    INSERT INTO SCHEMA.lease (key, owner, mode, waits, permits, since, expires, client)
      VALUES (k, o, m, true, size, now, now + waiter_lasts * interval '1 ms',
        convert_from(who, 'UTF8'));
  ELSIF mine.expires < now + waiter_lasts * interval '0.6 ms' THEN
    UPDATE SCHEMA.lease SET expires = now + waiter_lasts * interval '1 ms'
      WHERE key = k AND owner = o;
  END IF;
END $lockwork$;

-- Renews leases, and says which, as numbers from one.
CREATE OR REPLACE FUNCTION SCHEMA.lease_renew_v1(
  numbers bigint[], ks bytea[], os bytea[], lasting bigint[]) RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $lockwork$
DECLARE
  each bigint;
  now timestamptz;
BEGIN
  -- In order, as whoever takes several does: then nobody waits for another in a circle.
  FOR each IN SELECT DISTINCT n FROM unnest(numbers) AS n ORDER BY n LOOP
    PERFORM SCHEMA.lease_begin_v1(each);
  END LOOP;
  now := clock_timestamp();
  PERFORM SCHEMA.lease_lasts_v1();
  RETURN QUERY UPDATE SCHEMA.lease AS l SET expires = now + r.lasts * interval '1 ms'
    FROM unnest(ks, os, lasting) WITH ORDINALITY AS r(k, o, lasts, n)
    WHERE l.key = r.k AND l.owner = r.o AND NOT l.waits AND l.mode <> 0 AND l.expires > now
    RETURNING r.n;
END $lockwork$;

-- Gives back what an owner holds, without waiting for the disk: what a crash makes the server forget of
-- that ends with its lease, and who is granted the lock next waits for both. And refuses it to the same owner for `buried` milliseconds if a
-- question of its own may still be on the way. 1: it held the lock. 2: it did not.
CREATE OR REPLACE FUNCTION SCHEMA.lease_give_v1(
  number bigint, k bytea, o bytea, buried bigint, OUT verdict smallint, OUT answer bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $lockwork$
DECLARE
  now timestamptz := SCHEMA.lease_begin_v1(number);
BEGIN
  DELETE FROM SCHEMA.lease WHERE key = k AND owner = o;
  verdict := CASE WHEN FOUND THEN 1 ELSE 2 END;
  IF buried > 0 THEN
    INSERT INTO SCHEMA.lease (key, owner, mode, waits, permits, since, expires, client)
      VALUES (k, o, 0, false, 0, now, now + buried * interval '1 ms', '');
  END IF;
END $lockwork$;

-- Waits no more. 1: it did. 2: it did not.
CREATE OR REPLACE FUNCTION SCHEMA.lease_leave_v1(
  number bigint, k bytea, o bytea, OUT verdict smallint, OUT answer bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $lockwork$
BEGIN
  PERFORM SCHEMA.lease_begin_v1(number);
  DELETE FROM SCHEMA.lease WHERE key = k AND owner = o AND waits;
  verdict := CASE WHEN FOUND THEN 1 ELSE 2 END;
END $lockwork$;

-- Makes an upgradeable reader the writer. 1: it is, with its token. 2: readers are in the way.
-- 3: its lease is gone. 4: it is no upgradeable reader.
CREATE OR REPLACE FUNCTION SCHEMA.lease_rise_v1(
  number bigint, k bytea, o bytea, wish_lasts bigint, OUT verdict smallint, OUT answer bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $lockwork$
DECLARE
  now timestamptz := SCHEMA.lease_begin_v1(number);
  mine SCHEMA.lease;
BEGIN
  DELETE FROM SCHEMA.lease WHERE key = k AND expires <= now;
  SELECT * INTO mine FROM SCHEMA.lease WHERE key = k AND owner = o;
  IF mine.key IS NULL OR mine.waits OR mine.mode = 0 THEN
    verdict := 3;
  ELSIF mine.upgraded THEN
    PERFORM SCHEMA.lease_lasts_v1();
    verdict := 1;
    answer := mine.token;
  ELSIF mine.mode <> 3 THEN
    verdict := 4;
  ELSIF EXISTS (SELECT FROM SCHEMA.lease
      WHERE key = k AND owner <> o AND NOT waits AND mode <> 0) THEN
    verdict := 2;
    UPDATE SCHEMA.lease SET wishes = now + wish_lasts * interval '1 ms'
      WHERE key = k AND owner = o
        AND (wishes IS NULL OR wishes < now + wish_lasts * interval '0.6 ms');
  ELSE
    PERFORM SCHEMA.lease_lasts_v1();
    verdict := 1;
    answer := nextval('SCHEMA.token'::regclass);
    UPDATE SCHEMA.lease SET mode = 4, upgraded = true, token = answer, wishes = NULL
      WHERE key = k AND owner = o;
  END IF;
END $lockwork$;

-- Takes an upgrade back, and the wish for one. 1: there was one. 2: there was none.
CREATE OR REPLACE FUNCTION SCHEMA.lease_fall_v1(
  number bigint, k bytea, o bytea, OUT verdict smallint, OUT answer bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $lockwork$
BEGIN
  PERFORM SCHEMA.lease_begin_v1(number);
  -- Forgotten, it would keep readers out for as long as its reader stays.
  PERFORM SCHEMA.lease_lasts_v1();
  UPDATE SCHEMA.lease SET mode = 3, upgraded = false, token = NULL, wishes = NULL
    WHERE key = k AND owner = o AND NOT waits AND (upgraded OR wishes IS NOT NULL);
  verdict := CASE WHEN FOUND THEN 1 ELSE 2 END;
END $lockwork$;

-- Takes a lock away from everybody who holds it, and answers from how many.
CREATE OR REPLACE FUNCTION SCHEMA.lease_break_v1(
  number bigint, k bytea, OUT verdict smallint, OUT answer bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $lockwork$
DECLARE
  now timestamptz := SCHEMA.lease_begin_v1(number);
BEGIN
  PERFORM SCHEMA.lease_lasts_v1();
  DELETE FROM SCHEMA.lease WHERE key = k AND expires <= now;
  DELETE FROM SCHEMA.lease WHERE key = k AND NOT waits AND mode <> 0;
  GET DIAGNOSTICS answer = ROW_COUNT;
  verdict := 1;
END $lockwork$;
