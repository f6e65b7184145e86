; opt=3
; Five phis, to which two branches lead: of the halves of %a three differ, as selections; of those of %b, with longer sides,
; and of the comparison of integers, all stay behind branches.
define ptx_kernel void @k(ptr addrspace(1) align 8 %in, ptr addrspace(1) align 8 %out, double %a, double %b, i32 %n, i32 %which) #0 {
entry:
  br label %head

head:
  %j = phi i32 [ 0, %entry ], [ %next, %join ]
  %low = phi double [ -9.0, %entry ], [ %low2, %join ]
  %high = phi double [ 9.0, %entry ], [ %high2, %join ]
  %west = phi double [ -8.0, %entry ], [ %west2, %join ]
  %east = phi double [ 8.0, %entry ], [ %east2, %join ]
  %value = phi i64 [ 0, %entry ], [ %value2, %join ]
  %along = icmp eq i32 %which, %j
  br i1 %along, label %first, label %other

first:
  %s1 = fadd double %low, %high
  %m1 = fmul double %s1, 5.000000e-01
  %c1 = fcmp oge double %a, %m1
  br i1 %c1, label %up1, label %down1

up1:
  %v1 = add i64 %value, 1
  br label %join

down1:
  br label %join

other:
  %above = icmp sgt i32 %which, %n
  br i1 %above, label %second, label %third

second:
  %s2 = fadd double %west, %east
  %m2 = fmul double %s2, 5.000000e-01
  %c2 = fcmp oge double %b, %m2
  br i1 %c2, label %up2, label %down2

up2:
  %v2 = mul i64 %value, 3
  %v3 = add i64 %v2, 1
  br label %join

down2:
  %e2 = fadd double %m2, 1.0
  br label %join

third:
  %odd = icmp slt i64 %value, 8
  br i1 %odd, label %up3, label %down3

up3:
  %v4 = add i64 %value, 7
  br label %join

down3:
  br label %join

join:
  %low2 = phi double [ %m1, %up1 ], [ %low, %down1 ], [ %low, %up2 ], [ %low, %down2 ], [ %low, %up3 ], [ %low, %down3 ]
  %high2 = phi double [ %high, %up1 ], [ %m1, %down1 ], [ %high, %up2 ], [ %high, %down2 ], [ %high, %up3 ], [ %high, %down3 ]
  %west2 = phi double [ %west, %up1 ], [ %west, %down1 ], [ %m2, %up2 ], [ %west, %down2 ], [ %west, %up3 ], [ %west, %down3 ]
  %east2 = phi double [ %east, %up1 ], [ %east, %down1 ], [ %east, %up2 ], [ %e2, %down2 ], [ %east, %up3 ], [ %east, %down3 ]
  %value2 = phi i64 [ %v1, %up1 ], [ %value, %down1 ], [ %v3, %up2 ], [ %value, %down2 ], [ %v4, %up3 ], [ %value, %down3 ]
  %next = add nuw nsw i32 %j, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %head, label %end

end:
  store i64 %value2, ptr addrspace(1) %out, align 8
  ret void
}

attributes #0 = { nounwind }
