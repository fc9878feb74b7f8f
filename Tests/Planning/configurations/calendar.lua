-- Timers by the calendar, alone.
return {
  timers = {
    often = { cron = "*/2 * * * *", handler = print },
    weekly = { cron = "0 9 * * 1", zone = "UTC", handler = print },
  },
}
