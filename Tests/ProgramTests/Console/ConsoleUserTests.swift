// Consoles and other users of the machine, where there is no session folder.

import Foundation
import Testing

/// Whether every user can reach the program.
private func canBeTwoUsers() -> Bool {
  var place = Program.executable
  while place.path != "/" {
    var status = stat()
    if stat(place.path, &status) != 0 || status.st_mode & 0o5 != 0o5 { return false }
    place.deleteLastPathComponent()
  }
  return getuid() == 0
}

@Suite(
  "Consoles and other users", .serialized,
  .enabled(if: canBeTwoUsers(), "only root can be two users, who both need the program")
)
struct ConsoleUserTests {
  /// Runs a shell script as root; `as_other` runs what follows as user 65533, whose folder
  /// is `$FOLDER`, and `program` is the program.
  private func shell(_ script: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c",
      """
      FOLDER=/tmp/moonloop-65533
      HERE=$(mktemp -d)
      chmod 755 $HERE
      rm -rf $FOLDER $FOLDER.*
      unset XDG_RUNTIME_DIR
      as_other() { setpriv --reuid=65533 --regid=65533 --clear-groups "$@"; }
      # Prints 'ready' when it runs, and its number.
      start() {
        : > $HERE/out  # there before the loop below looks for it
        as_other "$@" $PROGRAM run --timeout 60 -e '
          answer = 42
          local ml = require "moonloop"
          print(ml.port.listen("org.example.user") and "ready") io.stdout:flush()
          ml.current():every(60, print)' > $HERE/out 2>&1 &
        while ! grep -q "ready\\|nil" $HERE/out; do sleep 0.05; done
        PID=$(pgrep -n -u 65533 moonloop)
      }
      PROGRAM=\(Program.executable.path)
      \(script)
      [ -z "$PID" ] || kill $PID
      wait
      rm -rf $HERE $FOLDER $FOLDER.*
      """,
    ]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: text, as: UTF8.self)
  }

  @Test("a planted link has no file of its target removed")
  func keepsFiles() throws {
    let output = try shell(
      """
      mkdir $HERE/victim && touch $HERE/victim/999999.sock && chown -R 65533 $HERE/victim
      ln -s $HERE/victim $FOLDER
      as_other $PROGRAM ps > /dev/null
      ls $HERE/victim
      """)
    #expect(output == "999999.sock\n")
  }

  @Test("a folder that another user has made locks no other out")
  func isNotLockedOut() throws {
    let output = try shell(
      """
      mkdir $FOLDER && chmod 777 $FOLDER
      start
      cat $HERE/out
      echo answer | as_other $PROGRAM attach $PID
      as_other $PROGRAM run -e '
        local ml = require "moonloop"
        print(ml.port.connect "org.example.user" and "connected")'
      ls $FOLDER | wc -l
      """)
    #expect(output == "ready\n42\nconnected\n0\n", "\(output)")
  }

  @Test("root reaches a user's program, wherever that has its folder")
  func rootAttaches() throws {
    let output = try shell(
      """
      start
      echo answer | $PROGRAM attach $PID
      kill $PID; wait
      mkdir $HERE/session && chown 65533 $HERE/session && chmod 700 $HERE/session
      start env XDG_RUNTIME_DIR=$HERE/session
      echo answer | $PROGRAM attach $PID
      """)
    #expect(output == "42\n42\n", "\(output)")
  }
}
