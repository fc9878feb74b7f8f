-- A luacov that does not load.
error "the settings of luacov are broken"
