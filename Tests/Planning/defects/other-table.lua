-- Not a configuration, as far as one can see.
return { port = 8080, name = "app" }
