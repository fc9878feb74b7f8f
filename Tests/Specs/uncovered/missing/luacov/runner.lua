-- Says what Lua says where no luacov is installed.
error("module 'luacov.runner' not found:", 0)
