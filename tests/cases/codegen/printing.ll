a is %.7g%s and n is %lld %s 100%%\0A\00
call i32 @vprintf(
