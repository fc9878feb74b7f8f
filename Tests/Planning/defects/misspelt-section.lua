-- Planted: a section that does not exist, which `run` refuses.
return { timer = { a = { every = 1, handler = print } } }
