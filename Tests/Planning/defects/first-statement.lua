require("moonloop").current():after(1, print "x")
-- Planted: a mistake in the first statement, which has no token before it.
