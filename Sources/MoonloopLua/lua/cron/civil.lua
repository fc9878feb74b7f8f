-- Dates of the calendar as numbers: days since 1970, and seconds as if there were no time zones.
local civil = {}

--- Days from 1970-01-01 to a date of the Gregorian calendar.
function civil.days(year, month, day)
  if month <= 2 then year = year - 1 end
  local era_year = year % 400
  local day_of_year = (153 * (month + (month > 2 and -3 or 9)) + 2) // 5 + day - 1
  local day_of_era = era_year * 365 + era_year // 4 - era_year // 100 + day_of_year
  return year // 400 * 146097 + day_of_era - 719468
end

--- Year, month and day of a number of days since 1970-01-01.
function civil.date(days)
  days = days + 719468
  local day_of_era = days % 146097
  local year = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
  local day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
  local shifted = (5 * day_of_year + 2) // 153
  local month = shifted < 10 and shifted + 3 or shifted - 9
  year = year + days // 146097 * 400 + (month <= 2 and 1 or 0)
  return year, month, day_of_year - (153 * shifted + 2) // 5 + 1
end

--- The day of the week of a number of days since 1970: 0 is Sunday.
function civil.weekday(days) return (days + 4) % 7 end

return civil
