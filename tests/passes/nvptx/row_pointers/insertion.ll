; opt=3
define ptx_kernel void @k(ptr addrspace(1) align 8 %x, i32 range(i32 0, -2147483648) %n, i32 range(i32 0, -2147483648) %columns, double %near, i32 %m, ptr addrspace(1) align 8 %out) {
entry:
  %some = icmp ne i32 %n, 0
  br i1 %some, label %row, label %end

row:                                              ; preds = %entry, %on
  %p = phi i32 [ 0, %entry ], [ %p.next, %on ]
  %p.next = add nuw nsw i32 %p, 1
  %first = mul nuw nsw i32 %p, %columns
  %wide = sext i32 %first to i64
  %at = getelementptr inbounds nuw double, ptr addrspace(1) %x, i64 %wide
  %v = load double, ptr addrspace(1) %at, align 8
  %second = getelementptr inbounds nuw i8, ptr addrspace(1) %at, i64 8
  %w = load double, ptr addrspace(1) %second, align 8
  %d = fadd contract double %v, %w
  %asked = fcmp olt double %d, %near
  br i1 %asked, label %put, label %on

put:                                              ; preds = %row, %put
  %j = phi i32 [ 0, %row ], [ %j.next, %put ]
  %j.next = add nuw nsw i32 %j, 1
  %place = sext i32 %j to i64
  %to = getelementptr inbounds double, ptr addrspace(1) %out, i64 %place
  store double %d, ptr addrspace(1) %to, align 8
  %full = icmp eq i32 %j.next, %m
  br i1 %full, label %on, label %put

on:                                               ; preds = %put, %row
  %done = icmp eq i32 %p.next, %n
  br i1 %done, label %end, label %row

end:                                              ; preds = %on, %entry
  ret void
}
