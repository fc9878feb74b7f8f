// The input of each cookbook recipe that ends by itself, and its output.

/// A recipe that ends by itself.
struct Recipe {
  let file: String
  var options = ["--clock", "virtual"]
  /// `$T` stands for a folder of the test.
  var arguments: [String] = []
  /// Files in that folder, before it runs.
  var files: [String: String] = [:]
  var input = ""
  /// Its output, as a pattern if it depends on the day.
  let output: String
  var isPattern = false
  var errors = ""
  var status: Int32 = 0
}

extension Recipe {
  static let all: [Recipe] = [
    Recipe(
      file: "daily.lua",
      output: (1...7).map { "night \($0), 03:00, 0 missed\n" }.joined()),
    Recipe(
      file: "report.lua",
      output: #"(?:\w{3} \d\d \w{3} +\d+ orders since the last report\n){6}"#, isPattern: true),
    Recipe(
      file: "debounce.lua",
      output: "0.7 s  search for \"moon\"\n1.6 s  search for \"moon loop\"\n"),
    Recipe(
      file: "throttle.lua",
      output: "0.0 s  drawn at 1\n0.5 s  drawn at 5\n1.0 s  drawn at 10\n1.5 s  drawn at 12\n"),
    Recipe(
      file: "timeout.lua",
      output: """
          given back
        done after 1 s
          given back
        nil\ttimed out: waited for a sleep of 60.0 s (timeout.lua:11)\tETIMEDOUT
        nil\ttimed out: waited to receive from channel (made at timeout.lua:20)\tETIMEDOUT

        """),
    Recipe(
      file: "retry.lua",
      output: """
        attempt 1: connection refused; again in 0.5 s
        attempt 2: connection refused; again in 1.0 s
        attempt 3: connection refused; again in 2.0 s
        the answer

        """),
    Recipe(
      file: "idle_work.lua",
      output: "a timer, with 99000 numbers left\nthe sum is 5000050000\n"),
    Recipe(file: "idle_batch.lua", output: "write 1: a, b, c\nwrite 2: a\n"),
    Recipe(file: "progress.lua", output: "250 parts done\n"),
    Recipe(
      file: "rate_limit.lua",
      output: (1...7).map { "\(($0 - 1) / 2).0 s  request \($0)\n" }.joined()),
    Recipe(
      file: "cache.lua",
      output: """
        5 callers, asked 1 time
        after half a minute: asked 1 time
        after the minute: asked 2 times

        """),
    Recipe(
      file: "states.lua",
      output: """
        1.0 s  stopped  the play button
        1.0 s  playing  the position moves
        1.5 s  playing  the position moves
        2.0 s  playing  the position moves
        2.2 s  playing  the stop button
        4.0 s  stopped  quit

        """),
    Recipe(
      file: "dialog.lua", options: [], input: "yes\n",
      output: "Delete everything? (yes/no)\ndeleted\n0 saves meanwhile\n"),
    Recipe(
      file: "parallel.lua", options: [], arguments: ["2", "$T/a", "$T/b", "$T/none"],
      files: ["a": "abc", "b": "hello\n"],
      output: #"a: 3 bytes\nb: 6 bytes\nnone: ml.process.run: 'wc' ended with code 1: .*\n"#,
      isPattern: true),
    Recipe(
      file: "columns.lua", options: [], arguments: ["1", "3"],
      input: "a x 3\nb x 4\na x 10\nnothing\nlast x 1",
      output: "a                  13\nb                   4\nlast                1\n"),
    Recipe(
      file: "journal.lua", output: "",
      errors: "info: started with 0 arguments\nerr: no luck\nwarning: going on\n", status: 1),
    Recipe(
      file: "sqlite.lua", options: [],
      output: #"3 rows\nowl\nrobin\n.*no such column: wings\n"#, isPattern: true),
    Recipe(
      file: "luv.lua",
      output: """
        a folder is a directory
        ENOENT: no such file or directory: /nowhere
        1.0 s  luv's timer
        1.5 s  a task
        2.0 s  luv's timer
        3.0 s  luv's timer

        """),
    Recipe(
      file: "luasocket.lua",
      output: "slowly, owl\nslowly, heron\nslowly, robin\nall at once\n"),
    Recipe(
      file: "service_config.lua",
      output: "hello 1\nhello 2\nhello 3\nphase 'default' ends\nphase 'drain' ends\n"),
    Recipe(
      file: "state.lua", arguments: ["$T/count"], files: ["count": "38"], output: "begins at 38\n"),
    Recipe(
      file: "tail_count.lua", options: [], arguments: ["$T/log", "(%d%d%d)"],
      files: ["log": "GET 200\nGET 404\nGET 200\nend\n"],
      output: "     2  200\n     1  404\n     4  in all\n"),
  ]
}
