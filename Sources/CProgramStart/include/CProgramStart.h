// What the shipped program has in place of two constructors of Swift's library: nothing to call.
#pragma once
