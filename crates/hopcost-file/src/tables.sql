CREATE TABLE run (position INTEGER PRIMARY KEY, document TEXT NOT NULL);

CREATE TABLE planned_case (case_index INTEGER PRIMARY KEY, document TEXT NOT NULL);

CREATE TABLE trial (
    trial INTEGER PRIMARY KEY,
    document TEXT NOT NULL,
    samples_kept INTEGER NOT NULL,
    samples BLOB NOT NULL,
    lags BLOB,
    gaps BLOB,
    own_lags BLOB,
    untraced_ns BLOB,
    events BLOB
);

CREATE TABLE estimate (position INTEGER PRIMARY KEY, document TEXT NOT NULL);

CREATE TABLE finding (position INTEGER PRIMARY KEY, document TEXT NOT NULL);
