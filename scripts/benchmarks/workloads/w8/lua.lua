-- W8: what the interpreter alone takes: no loop, no timer.
print "hello"
