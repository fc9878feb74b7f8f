---@meta _
-- Files

---@class moonloop
local ml = {}

---`ml.fs`: files, on threads that may wait for the disk while the loop goes on.
---Loaded when first used. See [files.md](../files.md).
---@class moonloop.Fs
ml.fs = {}

---@class moonloop.FsOptions
---@field timeout? moonloop.Seconds For the whole call; default: none.

---@class moonloop.FileStatus
---@field kind string "file", "folder", "link", "fifo", "socket", "char" or "block".
---@field size integer Bytes.
---@field modified number When the contents last changed: seconds since 1970.
---@field accessed number When it was last read.
---@field changed number When its status last changed.
---@field created number When it was made.
---@field permissions integer Such as 420 (0644).
---@field user integer The owner's number.
---@field group integer The group's number.
---@field links integer How many names it has.
---@field device integer The number of its file system.
---@field inode integer Its number there.
---@field blocks integer Its space on the disk, in blocks of 512 bytes.

---@class moonloop.FsStatOptions: moonloop.FsOptions
---@field follow? boolean false: of a symbolic link, the link itself; default true.

---Returns what the system knows of a file: kind, size, times, permissions.
---Returns `nil, message, code`, as all functions here do: "ENOENT", "EACCES", "ETIMEDOUT", ...
---Raises an error that names the wrong option, and where Lua cannot wait.
---```lua
---loop:task(function()
---  print(ml.fs.stat("/").kind)                --> folder
---  print((select(2, ml.fs.stat "/nowhere")))
---  --> ml.fs.stat: '/nowhere': No such file or directory (ENOENT)
---end)
---```
---@async
---@param path string The file or folder.
---@param options? moonloop.FsStatOptions The timeout, and more.
---@return moonloop.FileStatus? status What the system knows.
---@return string? message
---@return string? code
function ml.fs.stat(path, options) end

---@class moonloop.FolderEntry
---@field name string Its name there.
---@field kind string As in `ml.fs.stat`, or "unknown" where the file system does not say.
---@field path string The folder's path and the name.

---Returns what is in a folder, in the order of the names' bytes.
---Fails as `ml.fs.stat` does.
---```lua
---loop:task(function()
---  local folder = assert(ml.fs.temporary_folder())
---  assert(ml.fs.write(folder .. "/a.txt", "text"))
---  for _, entry in ipairs(ml.fs.list(folder)) do
---    print(entry.name, entry.kind)              --> a.txt file
---  end
---  ml.fs.remove(folder, { recursive = true })
---end)
---```
---@async
---@param path string The file or folder.
---@param options? moonloop.FsOptions The timeout, and more.
---@return moonloop.FolderEntry[]? entries What is in it.
---@return string? message
---@return string? code
function ml.fs.list(path, options) end

---@class moonloop.FsWalkOptions: moonloop.FsOptions
---@field depth? integer How deep: 0 is the folder's own contents; default: no limit.

---Walks through a folder and all folders in it, each before its contents.
---Symbolic links are listed, not followed. Raises an error for a folder that cannot be read; one
---that is removed meanwhile is left out.
---```lua
---loop:task(function()
---  local folder = assert(ml.fs.temporary_folder())
---  assert(ml.fs.mkdir(folder .. "/a/b", { parents = true }))
---  for path, kind, depth in ml.fs.walk(folder) do
---    print(path:sub(#folder + 2), kind, depth)
---    --> a folder 0
---    --> a/b folder 1
---  end
---  ml.fs.remove(folder, { recursive = true })
---end)
---```
---@async
---@param path string The file or folder.
---@param options? moonloop.FsWalkOptions The timeout, and more.
---@return fun(): string?, string, integer next Returns a path, its kind, and its depth.
function ml.fs.walk(path, options) end

---@class moonloop.FsReadOptions: moonloop.FsOptions
---@field limit? moonloop.Bytes Fail with "EFBIG" if the file holds more; default 64 MiB.

---Returns the contents of a file.
---Fails as `ml.fs.stat` does, with "EISDIR" for a folder, and with "EFBIG" over the limit.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file())
---  ml.fs.write(file.path, "text")
---  print(ml.fs.read(file.path))                             --> text
---  print(select(3, ml.fs.read(file.path, { limit = 3 })))   --> EFBIG
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param path string The file or folder.
---@param options? moonloop.FsReadOptions The timeout, and more.
---@return string? contents All of it.
---@return string? message
---@return string? code
function ml.fs.read(path, options) end

---@class moonloop.FsWriteOptions: moonloop.FsOptions
---@field permissions? integer Permissions of a new file; default 438 (0666), less the process's umask.
---@field sync? boolean Wait until it is on the disk; default false.

---Writes a file: makes it, or replaces what it held.
---A reader may see a part of it; `ml.fs.replace` changes it atomically. Fails as `ml.fs.stat` does,
---and with "ENOSPC" when the disk is full.
---```lua
---loop:task(function()
---  local folder = assert(ml.fs.temporary_folder())
---  assert(ml.fs.write(folder .. "/a.txt", "text", { timeout = 5 }))
---  print(ml.fs.read(folder .. "/a.txt"))         --> text
---  ml.fs.remove(folder, { recursive = true })
---end)
---```
---@async
---@param path string The file or folder.
---@param text string What to write.
---@param options? moonloop.FsWriteOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function ml.fs.write(path, text, options) end

---Appends to a file, which is made if it does not exist.
---Fails as `ml.fs.write` does.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file())
---  ml.fs.append(file.path, "one ")
---  ml.fs.append(file.path, "two")
---  print(ml.fs.read(file.path))                  --> one two
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param path string The file or folder.
---@param text string What to write.
---@param options? moonloop.FsWriteOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function ml.fs.append(path, text, options) end

---@class moonloop.FsReplaceOptions: moonloop.FsOptions
---@field permissions? integer Default: those of the old file, or 420 (0644).

---Replaces a file atomically: readers see the old contents or the new ones, even after a crash.
---The text goes to a new file in the same folder, to the disk, and then takes the old one's name.
---After a failure or a timeout the file holds the old contents or the new ones. Fails as
---`ml.fs.write` does.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file())
---  assert(ml.fs.replace(file.path, "new", { permissions = 384 }))
---  print(ml.fs.read(file.path))                  --> new
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param path string The file or folder.
---@param text string What to write.
---@param options? moonloop.FsReplaceOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function ml.fs.replace(path, text, options) end

---@class moonloop.FsMkdirOptions: moonloop.FsOptions
---@field parents? boolean Also make the folders it is in; then it may exist already.
---@field permissions? integer Default 511 (0777), less the process's umask.

---Makes a folder.
---Fails as `ml.fs.stat` does, and with "EEXIST".
---```lua
---loop:task(function()
---  local folder = assert(ml.fs.temporary_folder())
---  assert(ml.fs.mkdir(folder .. "/a/b", { parents = true }))
---  print(select(3, ml.fs.mkdir(folder)))         --> EEXIST
---  ml.fs.remove(folder, { recursive = true })
---end)
---```
---@async
---@param path string The file or folder.
---@param options? moonloop.FsMkdirOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function ml.fs.mkdir(path, options) end

---Gives a file or folder another name on the same file system; a file of that name is replaced.
---Fails as `ml.fs.stat` does, and with "EXDEV" if it is another file system.
---```lua
---loop:task(function()
---  print((select(2, ml.fs.rename("/nowhere", "/tmp/x"))))
---  --> ml.fs.rename: '/nowhere' to '/tmp/x': No such file or directory (ENOENT)
---end)
---```
---@async
---@param path string The file or folder.
---@param new_path string The other name.
---@param options? moonloop.FsOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function ml.fs.rename(path, new_path, options) end

---@class moonloop.FsCopyOptions: moonloop.FsOptions
---@field recursive? boolean Copy a folder with its contents; default false.
---@field replace? boolean false: fail with "EEXIST" if the file exists; default true.

---Copies a file with its permissions, or a folder with its contents.
---Symbolic links in the folder are copied as links. Blocks are shared where the file system can.
---What was copied before a failure or a timeout stays. Fails as `ml.fs.write` does.
---```lua
---loop:task(function()
---  local folder = assert(ml.fs.temporary_folder())
---  ml.fs.write(folder .. "/a", "text")
---  assert(ml.fs.copy(folder .. "/a", folder .. "/b"))
---  print(ml.fs.read(folder .. "/b"))             --> text
---  ml.fs.remove(folder, { recursive = true })
---end)
---```
---@async
---@param path string The file or folder.
---@param new_path string The other name.
---@param options? moonloop.FsCopyOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function ml.fs.copy(path, new_path, options) end

---@class moonloop.FsRemoveOptions: moonloop.FsOptions
---@field recursive? boolean Remove a folder with its contents; default false.

---Removes a file, a link, or an empty folder.
---Links are not followed, not even those that take a folder's place meanwhile. Fails as
---`ml.fs.stat` does, and with "ENOTEMPTY". A folder's path that ends in "." or ".." is refused
---with "EINVAL" before anything is removed.
---```lua
---loop:task(function()
---  local folder = assert(ml.fs.temporary_folder())
---  ml.fs.write(folder .. "/a", "text")
---  print(select(3, ml.fs.remove(folder)))        --> ENOTEMPTY
---  print(ml.fs.remove(folder, { recursive = true }))   --> true
---end)
---```
---@async
---@param path string The file or folder.
---@param options? moonloop.FsRemoveOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function ml.fs.remove(path, options) end

---@class moonloop.FsTemporaryOptions: moonloop.FsOptions
---@field folder? string Where; default: TMPDIR, or "/tmp".
---@field prefix? string How its name begins; default "moonloop-".
---@field memory? boolean In memory, on Linux's /dev/shm: for tests, which then wait for no disk. "ENODEV" without one.

---Makes a file with a new, unpredictable name, open to read and write, for its owner alone.
---Its name is its field 'path'. It stays until it is removed. Fails as `ml.fs.stat` does.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file { prefix = "app-" })
---  print(file.path:match "app%-")                --> app-
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param options? moonloop.FsTemporaryOptions The timeout, and more.
---@return moonloop.File? file The open file.
---@return string? message
---@return string? code
function ml.fs.temporary_file(options) end

---Makes a folder with a new, unpredictable name, for its owner alone.
---It stays until it is removed. Fails as `ml.fs.stat` does.
---```lua
---loop:task(function()
---  local path = assert(ml.fs.temporary_folder())
---  print(ml.fs.stat(path).permissions)           --> 448
---  ml.fs.remove(path)
---end)
---```
---@async
---@param options? moonloop.FsTemporaryOptions The timeout, and more.
---@return string? path The folder.
---@return string? message
---@return string? code
function ml.fs.temporary_folder(options) end

---@class moonloop.FsLinkOptions: moonloop.FsOptions
---@field symbolic? boolean A symbolic link, which may point anywhere; default false.

---Gives a file a second name, or makes a symbolic link.
---Fails as `ml.fs.stat` does, and with "EEXIST".
---```lua
---loop:task(function()
---  local folder = assert(ml.fs.temporary_folder())
---  assert(ml.fs.link("elsewhere", folder .. "/a", { symbolic = true }))
---  print(ml.fs.target(folder .. "/a"))           --> elsewhere
---  ml.fs.remove(folder, { recursive = true })
---end)
---```
---@async
---@param path string What it points to.
---@param new_path string The link.
---@param options? moonloop.FsLinkOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function ml.fs.link(path, new_path, options) end

---@class moonloop.FsTargetOptions: moonloop.FsOptions
---@field whole? boolean Follow all links, and return an absolute path; default false.

---Returns the target of a symbolic link, as written there.
---Fails as `ml.fs.stat` does, and with "EINVAL" if it is not a link.
---```lua
---loop:task(function()
---  print(ml.fs.target("/..", { whole = true }))   --> /
---end)
---```
---@async
---@param path string The file or folder.
---@param options? moonloop.FsTargetOptions The timeout, and more.
---@return string? target Where it points.
---@return string? message
---@return string? code
function ml.fs.target(path, options) end

---Sets the permissions of a file or folder.
---Fails as `ml.fs.stat` does, and with "EPERM" for another user's file.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.temporary_file())
---  assert(ml.fs.chmod(file.path, tonumber("640", 8)))
---  print(("%o"):format(file:stat().permissions))  --> 640
---  ml.fs.remove(file.path)
---end)
---```
---@async
---@param path string The file or folder.
---@param permissions integer Such as 420 (0644).
---@param options? moonloop.FsOptions The timeout, and more.
---@return true? done Whether it was done.
---@return string? message
---@return string? code
function ml.fs.chmod(path, permissions, options) end

---@class moonloop.FileSpace
---@field total moonloop.Bytes All of it.
---@field free moonloop.Bytes The unused space.
---@field available moonloop.Bytes What users other than root may still use.

---Returns how large the file system of a path is, and how much of it is free.
---Fails as `ml.fs.stat` does.
---```lua
---loop:task(function()
---  local space = assert(ml.fs.space "/")
---  print(space.available <= space.total)         --> true
---end)
---```
---@async
---@param path string The file or folder.
---@param options? moonloop.FsOptions The timeout, and more.
---@return moonloop.FileSpace? space Its sizes.
---@return string? message
---@return string? code
function ml.fs.space(path, options) end

---@class moonloop.FsOpenOptions: moonloop.FsOptions
---@field permissions? integer Permissions of a new file; default 438 (0666), less the process's umask.

---Opens a file, to read and write parts of it.
---Modes are those of `io.open`, where "b" has no effect; "wx" and "wx+" fail with "EEXIST" if the
---file is there. Fails as `ml.fs.stat` does. Close it, or give it to a `<close>` variable: a file
---that is collected is closed then, with a warning that says where it was opened, once for each
---line. Raises an error for an unknown mode.
---```lua
---loop:task(function()
---  local file <close> = assert(ml.fs.open("/dev/null", "r"))
---  print(#file:read(10))                         --> 0
---end)
---```
---@async
---@param path string The file or folder.
---@param mode? string Default "r".
---@param options? moonloop.FsOpenOptions The timeout, and more.
---@return moonloop.File? file The open file.
---@return string? message
---@return string? code
function ml.fs.open(path, mode, options) end
