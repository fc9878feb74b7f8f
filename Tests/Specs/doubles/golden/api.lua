-- What a server said, as expectations of a double; 'moonloop test --update' records it again.
return {
  {
    "GET /hello",
    reply = {
      200,
      "hello",
      {},
    },
  },
}
