import MoonloopCore

let loop = Loop.main
loop.mainQueueHolds = false
loop.run()
