-- All times are milliseconds since the beginning of 1970. What begins with `lockwork_` is lockwork's, so that a
-- program may keep its own tables in the same file.

CREATE TABLE lockwork_instances (
    ord INTEGER PRIMARY KEY,           -- the newest has the highest
    id TEXT NOT NULL UNIQUE,
    version_id TEXT NOT NULL,
    sub_status TEXT NOT NULL,
    running INTEGER NOT NULL,          -- 0 once it is over
    correlation TEXT,
    activation TEXT,                   -- of several with one, one may run at a time
    epoch INTEGER NOT NULL DEFAULT 0,
    claim TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL DEFAULT 0,
    committed_by TEXT,
    cancel INTEGER NOT NULL DEFAULT 0,
    moved INTEGER NOT NULL DEFAULT 0,  -- whether the last commit has changed the correlation
    created INTEGER NOT NULL,
    finished INTEGER,
    state TEXT NOT NULL                -- last, so that the rest is read without it
);
CREATE INDEX lockwork_instances_by_sub_status ON lockwork_instances (sub_status);
CREATE INDEX lockwork_instances_by_version ON lockwork_instances (version_id);
CREATE INDEX lockwork_instances_by_correlation ON lockwork_instances (correlation) WHERE correlation IS NOT NULL;
CREATE INDEX lockwork_instances_by_finished ON lockwork_instances (finished) WHERE finished IS NOT NULL AND NOT running;
CREATE UNIQUE INDEX lockwork_activations ON lockwork_instances (activation) WHERE activation IS NOT NULL AND running;

-- Of several requests with one key, one creates an instance.
CREATE TABLE lockwork_keys (
    key TEXT PRIMARY KEY,
    instance TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX lockwork_keys_by_instance ON lockwork_keys (instance);

CREATE TABLE lockwork_journal (
    instance TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    version INTEGER NOT NULL,          -- the commit that wrote it
    claim TEXT NOT NULL,               -- and whose that was
    entry TEXT NOT NULL,
    PRIMARY KEY (instance, sequence)
) WITHOUT ROWID;

-- Where instances wait: an index, made of what is in their states.
CREATE TABLE lockwork_bookmarks (
    id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    hash TEXT NOT NULL,
    execution TEXT NOT NULL,
    burns INTEGER NOT NULL,
    due INTEGER,
    timer INTEGER                      -- when an errand is made of it
) WITHOUT ROWID;
CREATE INDEX lockwork_bookmarks_by_hash ON lockwork_bookmarks (hash, instance);
CREATE INDEX lockwork_bookmarks_by_instance ON lockwork_bookmarks (instance);
CREATE INDEX lockwork_timers ON lockwork_bookmarks (timer) WHERE timer IS NOT NULL;

CREATE TABLE lockwork_errands (
    ord INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    instance TEXT,
    promise TEXT,                      -- the bookmark that it resumes, so that nothing else is sent there
    due INTEGER NOT NULL,
    free INTEGER NOT NULL,             -- when somebody may be handed it
    hold TEXT,
    attempts INTEGER NOT NULL,
    cancelled INTEGER NOT NULL DEFAULT 0,
    kind TEXT NOT NULL
);
CREATE INDEX lockwork_errands_by_free ON lockwork_errands (free);
CREATE INDEX lockwork_errands_by_instance ON lockwork_errands (instance) WHERE instance IS NOT NULL;
CREATE INDEX lockwork_promises ON lockwork_errands (promise) WHERE promise IS NOT NULL;

-- A bookmark is promised to the errand that came last.
CREATE TRIGGER lockwork_one_promise AFTER INSERT ON lockwork_errands WHEN new.promise IS NOT NULL
BEGIN
    UPDATE lockwork_errands SET promise = NULL WHERE promise = new.promise AND ord <> new.ord;
END;

CREATE TABLE lockwork_waiting (
    ord INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    hash TEXT NOT NULL,
    instance TEXT,
    correlation TEXT,
    execution TEXT,
    bookmark TEXT,
    expires INTEGER,
    stimulus TEXT NOT NULL
);
CREATE INDEX lockwork_waiting_by_hash ON lockwork_waiting (hash, instance);
CREATE INDEX lockwork_waiting_by_instance ON lockwork_waiting (instance) WHERE instance IS NOT NULL;
CREATE INDEX lockwork_waiting_by_expires ON lockwork_waiting (expires) WHERE expires IS NOT NULL;

-- Of several stimuli with one key, one counts.
CREATE TABLE lockwork_stimulus_keys (
    key TEXT PRIMARY KEY,
    came INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX lockwork_stimulus_keys_by_came ON lockwork_stimulus_keys (came);

CREATE TABLE lockwork_dead_letters (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    replayed INTEGER,
    reason TEXT NOT NULL,
    letter TEXT NOT NULL
);
CREATE INDEX lockwork_dead_letters_by_at ON lockwork_dead_letters (at);

CREATE TABLE lockwork_versions (
    id TEXT PRIMARY KEY,
    definition_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    published INTEGER NOT NULL,
    created INTEGER NOT NULL,
    definition TEXT NOT NULL
);
CREATE UNIQUE INDEX lockwork_versions_by_number ON lockwork_versions (definition_id, number);
CREATE UNIQUE INDEX lockwork_published ON lockwork_versions (definition_id) WHERE published;

CREATE TABLE lockwork_triggers (
    definition_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    version_id TEXT NOT NULL,
    node TEXT NOT NULL,
    hash TEXT NOT NULL,
    schedule TEXT,
    next INTEGER,
    PRIMARY KEY (definition_id, place)
) WITHOUT ROWID;
CREATE INDEX lockwork_triggers_by_hash ON lockwork_triggers (hash);
CREATE INDEX lockwork_schedules ON lockwork_triggers (next) WHERE next IS NOT NULL;

CREATE TABLE lockwork_jobs (
    bookmark TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    free INTEGER NOT NULL,
    hold TEXT,
    attempts INTEGER NOT NULL,
    job TEXT NOT NULL
);
CREATE INDEX lockwork_jobs_by_free ON lockwork_jobs (free);
CREATE INDEX lockwork_jobs_by_instance ON lockwork_jobs (instance);

CREATE TABLE lockwork_tasks (
    bookmark TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    task TEXT NOT NULL
);
CREATE INDEX lockwork_tasks_by_instance ON lockwork_tasks (instance);

-- A bookmark is gone, and with it whatever was done for it.
CREATE TRIGGER lockwork_bookmark_gone AFTER DELETE ON lockwork_bookmarks
BEGIN
    DELETE FROM lockwork_jobs WHERE bookmark = old.id;
    DELETE FROM lockwork_tasks WHERE bookmark = old.id;
END;

-- An instance is gone, and with it everything that belongs to it.
CREATE TRIGGER lockwork_instance_gone AFTER DELETE ON lockwork_instances
BEGIN
    DELETE FROM lockwork_bookmarks WHERE instance = old.id;
    DELETE FROM lockwork_journal WHERE instance = old.id;
    DELETE FROM lockwork_keys WHERE instance = old.id;
    DELETE FROM lockwork_errands WHERE instance = old.id;
    DELETE FROM lockwork_waiting WHERE instance = old.id;
    DELETE FROM lockwork_jobs WHERE instance = old.id;
    DELETE FROM lockwork_tasks WHERE instance = old.id;
END;

-- Whatever is inserted here stops the statements that come after it in one go.
CREATE VIEW lockwork_refusals AS SELECT 1 AS refused;
CREATE TRIGGER lockwork_refuse INSTEAD OF INSERT ON lockwork_refusals
BEGIN
    SELECT RAISE(ABORT, 'lockwork: refused');
END;
