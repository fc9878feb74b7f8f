-- What a console and its program exchange: lines of JSON.
return {
  --- Length limit of a line in bytes: more than a person types.
  LINE_LIMIT = 1 << 20,
  --- So much text fits into a line however it is escaped.
  PIECE = 128 << 10,
}
