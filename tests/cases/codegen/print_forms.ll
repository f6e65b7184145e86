c"x|%.7g%s|%lld!\0A\00"
c"%8.3f %5lld %s n=%lld\0A\00"
c"(%lld, np.float64(%.16g%s)) %s None\0A\00"
call i32 @vprintf(
call i32 @vprintf(
call i32 @vprintf(
