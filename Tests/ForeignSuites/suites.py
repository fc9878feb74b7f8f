"""The suites of others that scripts/foreign-suites runs: where they are, how, and what passes."""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent

# The environment of what runs in luvi.
LUVI = {
    "LUA_PATH": "{here}/luvi/?.lua;{dir}/luvi/src/lua/?.lua;;",
    "LUA_CPATH": "{dir}/lua-openssl/?.so;;",
    "OPENSSL_CONF": "{here}/luvi/openssl.cnf",  # their certificates are older than OpenSSL's rules
}

# Each has: `needs`, what must be there in the folder of the checkouts; `passes`, how many tests are
# known to pass; `in`, the folder to run in; `path`, places for LUA_PATH; `arguments`, for `moonloop
# test`. {dir} stands for the folder of the checkouts, {here} for this one, {scratch} for a new one.
# `links` are made in the scratch folder. A suite with a `program` is run by it file by file, as
# TAP; one with `ways` is run as a whole in each of them, and has passed if it prints `ends`.
# `excluded` are tests that cannot pass, by the reason; they do not count as failed. "dns: resolve4"
# is one of tests/test-dns.lua; "ffi" is a file that ends without a result.
SUITES = {
    "lua": {
        "about": "the tests of Lua 5.4.4 itself (testes/ of lua/lua at v5.4.4), all that are not"
        " for its program alone: as the main chunk, with limits, in a handler, in a worker",
        "needs": ["lua/testes/all.lua"], "passes": 4, "in": "{scratch}/testes",
        "copies": ["lua/testes"],  # they write into their folder
        "ends": "\nfinal OK !!!\n",
        "ways": {
            "the main chunk": ["-e", "_port = true", "all.lua"],
            "with limits":
                ["--memory", "512M", "--callout", "300s", "-e", "_port = true", "all.lua"],
            "a timer's handler":
                ["-e", "require 'moonloop'.current():after(0, function()"
                 " _port = true dofile 'all.lua' end)"],
            "a worker":
                ["-e", "local worker = require 'moonloop'.worker"
                 " { source = [[_port = true dofile 'all.lua']] } worker:await()"],
        },
    },
    "busted": {
        "about": "busted's own specs; they start busted: Debian's lua-busted and lua-luacov",
        "needs": ["busted/spec"], "passes": 1670, "in": "{dir}/busted",
        "path": "./?.lua;./?/init.lua;;",
    },
    "luassert": {
        "about": "the specs of luassert",
        "needs": ["luassert/spec"], "passes": 209, "in": "{dir}/luassert",
        "links": {"luassert": "{dir}/luassert/src"},
        "path": "{scratch}/?.lua;{scratch}/?/init.lua;;",
    },
    "Penlight": {
        "about": "the specs of Penlight",
        "needs": ["Penlight/spec"], "passes": 255, "in": "{dir}/Penlight",
        "path": "./?.lua;./?/init.lua;;",
    },
    "tl": {
        "about": "the specs of Teal, which start their interpreter again; needs argparse beside it"
        " and Debian's lua-filesystem; without compat53 two files fail",
        "needs": ["tl/spec", "argparse/src"], "passes": 1921, "in": "{dir}/tl",
        "path": "{dir}/argparse/src/?.lua;;",
    },
    "luacheck": {
        "about": "the specs of luacheck, which start their interpreter again; needs argparse beside"
        " it and Debian's lua-filesystem; without lua-utf8 one file fails",
        "needs": ["luacheck/spec", "argparse/src"], "passes": 457, "in": "{dir}/luacheck",
        "path": "{dir}/luacheck/src/?.lua;{dir}/luacheck/src/?/init.lua;{dir}/argparse/src/?.lua;;",
    },
    "copas": {
        "about": "copas's tests on a clock that skips idle time; needs timerwheel.lua beside it,"
        " Debian's lua-socket, lua-binaryheap and lua-coxpcall",
        "needs": ["copas/src", "timerwheel.lua/src"], "passes": 18, "in": "{dir}/copas/tests",
        # What is pure Lua and older than 5.4 is not there for 5.4 in Debian.
        "path": "{dir}/copas/src/?.lua;{dir}/timerwheel.lua/src/?/init.lua;"
        "/usr/share/lua/5.3/?.lua;;",
        "environment": {"COPAS": "{dir}/copas"},
        "arguments": ["--clock", "skip_idle", "--timeout", "180", "--leaks", "allow",
                      "{here}/copas_spec.lua"],
    },
    "async.nvim": {
        "about": "the specs of lewis6991/async.nvim (vim.async), with a shim for Neovim",
        "needs": ["async.nvim/test/async_spec.lua"], "passes": 98, "in": "{scratch}",
        "links": {"lua": "{dir}/async.nvim/lua", "nvim-test/helpers.lua": "{here}/nvim_shim.lua",
                  "test": "{dir}/async.nvim/test"},
        "path": "{scratch}/?.lua;{scratch}/lua/?.lua;{scratch}/lua/?/init.lua;;",
        "arguments": ["test/async_spec.lua"],
    },
    "nvim-nio": {
        "about": "the specs of nvim-neotest/nvim-nio, with a shim for Neovim",
        "needs": ["nvim-nio/tests/tasks_spec.lua"], "passes": 61, "in": "{dir}/nvim-nio",
        "path": "./lua/?.lua;./lua/?/init.lua;;",
        "environment": {"LUA_INIT": "@{here}/nio_shim.lua"},
        "arguments": ["--leaks", "allow", "tests"],
    },
    "luv": {
        "about": "luv's tests at tag 1.44.2-0 on moonloop.compat.uv",
        "needs": ["luv/lib/tap.lua"], "passes": 130, "in": "{scratch}",
        "copies": ["luv/lib", "luv/tests", "luv/README.md"],  # some write into their folder
        "program": ["run", "-e", "require('moonloop.compat.uv').install {{ exepath = arg[2] }}"
                    " assert(loadfile(arg[1]))()", "{file}", "{scratch}/lua"],
    },
    "luvit": {
        "about": "luvit's tests, in luvit; needs luvi beside it, for what luvi has in Lua, and"
        " lua-openssl with its module built (openssl.so)",
        "needs": ["luvit/main.lua", "luvi/src/lua/init.lua", "lua-openssl/openssl.so"],
        "passes": 236,
        "excluded": {
            "it asks hosts on the Internet": [
                "dns: resolve4", "dns: resolve6", "dns: resolveSrv", "dns: resolveMx",
                "dns: resolveNs", "dns: resolveCname", "dns: resolveTxt",
                "dns: resolveTxtTimeout Order", "dns: resolveTxtTCP", "http: Real HTTP request",
                "http-client: http-client", "https-client: https-client"],
            "it wants LuaJIT: its ffi, '%' in the replacement of string.gsub, __tostring without a"
            " string": ["ffi", "path: path tests", "utils: utils"],
            "it wants the texts of OpenSSL 1.1": ["tls-peer-certificate"],
        },
        "in": "{scratch}/luvit", "copies": ["luvit"], "environment": LUVI,
        "program": ["run", "--uv", "{here}/luvi/main.lua", ".", "--", "{file}"],
    },
    "lit": {
        "about": "lit's tests of coro-channel and coro-http, in luvit; needs what luvit needs",
        "needs": ["lit/deps/coro-channel.lua", "luvit/main.lua", "luvi/src/lua/init.lua",
                  "lua-openssl/openssl.so"],
        "passes": 4, "in": "{scratch}/lit", "copies": ["lit", "luvit"], "environment": LUVI,
        "program": ["run", "--uv", "{here}/luvi/main.lua", "../luvit", "--", "{file}"],
    },
}
