-- Planted: a configuration whose only section is empty.
print "hi"
return { timers = {} }
