icmp eq i32
srem i32
sdiv i32
select i1
urem i32
sdiv i32
