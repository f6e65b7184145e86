; opt=3
; It loads nothing and stores two numbers: no second entry.
define ptx_kernel void @k(i32 %n, ptr addrspace(1) align 4 %y) #0 {
entry:
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = mul nuw nsw i32 %b, %w
  %i = add nuw nsw i32 %m, %t
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %body, label %end

body:                                             ; preds = %entry
  %wide = zext nneg i32 %i to i64
  %two = shl nuw nsw i64 %wide, 1
  %py = getelementptr inbounds i32, ptr addrspace(1) %y, i64 %two
  store i32 %i, ptr addrspace(1) %py, align 4
  %square = mul i32 %i, %i
  %pz = getelementptr inbounds nuw i8, ptr addrspace(1) %py, i64 4
  store i32 %square, ptr addrspace(1) %pz, align 4
  br label %end

end:                                              ; preds = %body, %entry
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
