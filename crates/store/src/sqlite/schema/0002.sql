-- Who shares this store.
CREATE TABLE lockwork_nodes (
    name TEXT PRIMARY KEY,
    since INTEGER NOT NULL,
    beat INTEGER NOT NULL,
    until INTEGER NOT NULL,            -- dead, if nothing more is heard until then
    bursts INTEGER NOT NULL,
    running TEXT NOT NULL              -- some of the instances they are of
) WITHOUT ROWID;
