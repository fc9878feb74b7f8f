// Named ports and other users of the machine: only the same user can reach them.

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
  "Named ports and other users",
  .enabled(if: canBeTwoUsers(), "only root can be two users, who both need the program")
)
struct ForeignUserTests {
  /// The first user's script starts the other user's, which replaces `other` in its text.
  private func run(_ script: String) throws -> Outcome {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("moonloop-users-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
    return try moonloop([
      "run", "-e",
      """
      local folder, program = ...
      local ml = require "moonloop"
      local loop = ml.current()
      local function other(source, ...)
        return assert(ml.process.spawn {
          "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
          program, "run", "-e", source, ...,
          stdout = "pipe", env_add = { XDG_RUNTIME_DIR = folder },
        })
      end
      loop:task(function()
      \(script)
      end)
      """, folder.path, Program.executable.path,
    ])
  }

  @Test("another user cannot connect, by name or by path")
  func refusesClients() throws {
    let outcome = try run(
      """
      -- The folder and the socket are closed to others; both are opened, so that the port itself
      -- has to look who comes.
      local posix = require "moonloop.posix"
      local service = assert(ml.process.spawn {
        program, "run", "-e", [[
          local ml = require "moonloop"
          local port
          port = assert(ml.port.listen("org.example.mine", { on_error = function(e)
            print(e.code, (e.message:gsub(" %(made at .*", "")))
            io.stdout:flush()
          end }))
          port:on("message", function(m, reply) print("got", m) reply "yes" port:invalidate() end)
          print "ready" io.stdout:flush()
        ]], stdout = "pipe", env_add = { XDG_RUNTIME_DIR = folder },
      })
      print(service.stdout:read "l")
      local byName = [[
        local _, message, code = require "moonloop".port.connect "org.example.mine"
        print(code, message)
      ]]
      print((other(byName).stdout:read "l"))
      local byPath = [[
        local ml = require "moonloop"
        local s, message, code = ml.net.connect { path = ... .. "/moonloop/org.example.mine.port" }
        print(code or tostring(s:read "a"))
      ]]
      print((other(byPath, folder).stdout:read "l"))
      assert(ml.process.run({ "chmod", "777", folder .. "/moonloop",
        folder .. "/moonloop/org.example.mine.port" }).code == 0)
      print((other(byName).stdout:read "l"))
      print((other(byPath, folder).stdout:read "l"))
      print(service.stdout:read "l")
      assert(ml.process.run({ "chmod", "700", folder .. "/moonloop" }).code == 0)
      -- Its own user is served as before.
      local own = assert(ml.process.spawn { program, "run", "-e", [[
        local ml = require "moonloop"
        print(assert(ml.port.connect "org.example.mine"):request "mine")
      ]], stdout = "pipe", env_add = { XDG_RUNTIME_DIR = folder } })
      print(own.stdout:read "l")
      print(service.stdout:read "l")
      """)
    #expect(
      outcome.output.replacingOccurrences(
        of: "/[^ ]*/moonloop(?= )", with: "FOLDER",
        options: .regularExpression) == """
          ready
          EACCES\tport 'org.example.mine': FOLDER belongs to another user
          EACCES
          EACCES\tport 'org.example.mine': FOLDER belongs to another user

          EACCES\tport 'org.example.mine': refused a connection of user 65534
          yes
          got\tmine

          """, "\(outcome)")
    #expect(outcome.errors == "" && outcome.status == 0, "\(outcome)")
  }

  @Test("root is another user, too, on both sides")
  func refusesRoot() throws {
    let outcome = try run(
      """
      local service = other [[
        local ml = require "moonloop"
        local port = assert(ml.port.listen("org.example.theirs", { on_error = function(e)
          print(e.code, (e.message:gsub(" %(made at .*", "")))
          io.stdout:flush()
          ml.current():stop()
        end }))
        port:on("message", function(message) print("got", message) end)
        print "ready" io.stdout:flush()
      ]]
      print(service.stdout:read "l")
      local path = folder .. "/moonloop/org.example.theirs.port"
      local stream = assert(ml.net.connect { path = path })
      print(stream:read "a")
      print(service.stdout:read "l")
      """)
    #expect(
      outcome.output == """
        ready

        EACCES\tport 'org.example.theirs': refused a connection of user 0

        """, "\(outcome)")
  }
}
