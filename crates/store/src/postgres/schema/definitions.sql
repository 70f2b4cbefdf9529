-- Definitions, and what starts instances of them.

-- One at a time changes a definition. Numbers from 8192 on are for these.
CREATE OR REPLACE FUNCTION SCHEMA.store_define_v1(_definition text) RETURNS void
LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(CLASS, 8192 | (hashtext(_definition) & 4095)) $$;

-- What starts instances of a version, from now on. One that was there stays what it was.
CREATE OR REPLACE FUNCTION SCHEMA.store_triggers_v1(
    _definition text, _version text, _node text[], _hash bytea[], _schedule text[], _next bigint[]
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    _old SCHEMA.trigger[];
    _changed integer;
BEGIN
    _old := ARRAY(SELECT at FROM SCHEMA.trigger AS at WHERE definition = _definition ORDER BY ordinal);
    SELECT count(*) INTO _changed FROM unnest(_old) AS old WHERE NOT EXISTS (
        SELECT FROM unnest(_node, _hash, _schedule) AS new (node, hash, schedule)
        WHERE new.node = old.node AND new.hash = old.hash AND new.schedule IS NOT DISTINCT FROM old.schedule
    );
    DELETE FROM SCHEMA.trigger WHERE definition = _definition;
    WITH added AS (
        INSERT INTO SCHEMA.trigger (definition, ordinal, version, node, hash, schedule, next)
        SELECT _definition, new.number, _version, new.node, new.hash, new.schedule,
            CASE WHEN same.node IS NULL THEN new.next ELSE same.next END
        FROM unnest(_node, _hash, _schedule, _next) WITH ORDINALITY AS new (node, hash, schedule, next, number)
        LEFT JOIN LATERAL (
            SELECT * FROM unnest(_old) AS old
            WHERE new.node = old.node AND new.hash = old.hash AND new.schedule IS NOT DISTINCT FROM old.schedule LIMIT 1
        ) AS same ON true
        RETURNING node, hash, schedule
    ) SELECT _changed + count(*) INTO _changed FROM added WHERE NOT EXISTS (
        SELECT FROM unnest(_old) AS old WHERE added.node = old.node AND added.hash = old.hash
            AND added.schedule IS NOT DISTINCT FROM old.schedule AND old.version = _version
    );
    RETURN _changed;
END $$;

-- Adds a version after the one with the number `_last`, unless `_body` is null, and makes the last one the one that
-- counts, if it is to.
CREATE OR REPLACE FUNCTION SCHEMA.store_put_v1(
    _definition text, _last integer, _id text, _number integer, _body text, _now bigint, _publish boolean,
    _node text[], _hash bytea[], _schedule text[], _next bigint[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM SCHEMA.store_define_v1(_definition);
    IF _last <> coalesce((SELECT max(number) FROM SCHEMA.definition WHERE definition = _definition), 0) THEN
        RAISE EXCEPTION USING ERRCODE = 'LW005', MESSAGE = 'there is a newer version';
    END IF;
    IF _body IS NOT NULL THEN
        INSERT INTO SCHEMA.definition (id, definition, number, published, created, body)
        VALUES (_id, _definition, _number, false, _now, _body);
    END IF;
    IF _publish THEN
        UPDATE SCHEMA.definition SET published = (id = _id)
        WHERE definition = _definition AND published <> (id = _id);
        PERFORM SCHEMA.store_triggers_v1(_definition, _id, _node, _hash, _schedule, _next);
    END IF;
    RETURN (SELECT published FROM SCHEMA.definition WHERE id = _id);
END $$;

CREATE OR REPLACE FUNCTION SCHEMA.store_retract_v1(_definition text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM SCHEMA.store_define_v1(_definition);
    DELETE FROM SCHEMA.trigger WHERE definition = _definition;
    UPDATE SCHEMA.definition SET published = false WHERE definition = _definition AND published;
    RETURN FOUND;
END $$;

-- Nothing, unless the version counts.
CREATE OR REPLACE FUNCTION SCHEMA.store_index_v1(
    _version text, _node text[], _hash bytea[], _schedule text[], _next bigint[]
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    _definition text;
BEGIN
    SELECT definition INTO _definition FROM SCHEMA.definition WHERE id = _version;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    PERFORM SCHEMA.store_define_v1(_definition);
    IF NOT (SELECT published FROM SCHEMA.definition WHERE id = _version) THEN
        RETURN 0;
    END IF;
    RETURN SCHEMA.store_triggers_v1(_definition, _version, _node, _hash, _schedule, _next);
END $$;
