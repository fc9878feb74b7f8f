// W8: a timer says hello, and the program is over.
setTimeout(() => console.log("hello"), 0);
