; opt=3
; Each copy's two stores come together; a thread of the entry has at most 32 registers.
define ptx_kernel void @k(ptr addrspace(1) align 4 %x, i32 %n, ptr addrspace(1) align 4 %y) #0 {
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
  %px = getelementptr inbounds float, ptr addrspace(1) %x, i64 %wide
  %v = load float, ptr addrspace(1) %px, align 4
  %two = shl nuw nsw i64 %wide, 1
  %py = getelementptr inbounds float, ptr addrspace(1) %y, i64 %two
  store float %v, ptr addrspace(1) %py, align 4
  %square = fmul float %v, %v
  %pz = getelementptr inbounds nuw i8, ptr addrspace(1) %py, i64 4
  store float %square, ptr addrspace(1) %pz, align 4
  br label %end

end:                                              ; preds = %body, %entry
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

attributes #0 = { nounwind }
