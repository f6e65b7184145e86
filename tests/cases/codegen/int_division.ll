icmp eq i32
sdiv i32
mul i32
sub i32
select i1
urem i32
ashr i32
