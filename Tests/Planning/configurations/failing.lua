-- Handlers that fail, print and end the program.
return {
  timers = {
    fail = { every = 2, handler = function() error "no use" end },
    say  = { every = 3, handler = function() print "said" io.write "written\n" end },
    quit = { first = 7, handler = function() os.exit(4) end },
  },
}
