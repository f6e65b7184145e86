; opt=3
; While %m is under way, the addresses of %x and %y are computed, in front of what waits for it; not
; the third one's, whose index is made of what is loaded with %m, nor that of %z, not wrapped.
define ptx_kernel void @k(ptr addrspace(1) align 8 %mass, ptr addrspace(1) align 8 %cx, ptr addrspace(1) align 8 %cy, ptr addrspace(1) align 4 %to, i32 %nx, i32 %ny, i32 %nz, ptr addrspace(1) align 8 %out) #0 {
entry:
  br label %loop

loop:                                             ; preds = %last, %entry
  %k = phi i32 [ 0, %entry ], [ %next, %last ]
  %sum = phi double [ 0.0, %entry ], [ %more, %last ]
  %own = sext i32 %k to i64
  %p = getelementptr double, ptr addrspace(1) %mass, i64 %own
  %m = load double, ptr addrspace(1) %p, align 8
  %q = getelementptr i32, ptr addrspace(1) %to, i64 %own
  %far = load i32, ptr addrspace(1) %q, align 4
  %behind = add i32 %far, 1
  %none = fcmp oeq double %m, 0.0
  br i1 %none, label %last, label %read

read:                                             ; preds = %loop
  %kx = add i32 %k, %nx
  %ix = call i32 @llvm.umin.i32(i32 %k, i32 %kx)
  %wx = sext i32 %ix to i64
  %px = getelementptr double, ptr addrspace(1) %cx, i64 %wx
  %x = load double, ptr addrspace(1) %px, align 8
  %ky = add i32 %k, %ny
  %iy = call i32 @llvm.umin.i32(i32 %k, i32 %ky)
  %wy = sext i32 %iy to i64
  %py = getelementptr double, ptr addrspace(1) %cy, i64 %wy
  %y = load double, ptr addrspace(1) %py, align 8
  %kz = add i32 %behind, %nz
  %iz = call i32 @llvm.umin.i32(i32 %behind, i32 %kz)
  %wz = sext i32 %iz to i64
  %pz = getelementptr double, ptr addrspace(1) %cx, i64 %wz
  %v = load double, ptr addrspace(1) %pz, align 8
  %pw = getelementptr double, ptr addrspace(1) %out, i64 %own
  %z = load double, ptr addrspace(1) %pw, align 8
  %a = fadd double %x, %y
  %b = fadd double %a, %v
  %c = fadd double %b, %z
  %big = fcmp ogt double %c, %m
  br i1 %big, label %add, label %last

add:                                              ; preds = %read
  %added = fadd double %sum, %c
  br label %last

last:                                             ; preds = %add, %read, %loop
  %more = phi double [ %sum, %loop ], [ %sum, %read ], [ %added, %add ]
  %next = add nuw nsw i32 %k, 1
  %again = icmp slt i32 %next, %nz
  br i1 %again, label %loop, label %done

done:                                             ; preds = %last
  store double %more, ptr addrspace(1) %out, align 8
  ret void
}

declare i32 @llvm.umin.i32(i32, i32)

attributes #0 = { nounwind }
