-- What a console and the program it looks into send each other: lines of JSON.
return {
  --- The longest line in bytes that is accepted: more than anybody types.
  LINE_LIMIT = 1 << 20,
}
