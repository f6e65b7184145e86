"""One program that uses much of the API, on the stand-in driver: at every step of it the driver fails.

`one_by_one`: each call of the driver, whichever it is, fails in turn, once. `from_here_on`: before each step the context breaks, and every
call fails until the device is reset. The error says which call failed, nothing is left behind, nothing hangs, and the program then runs
through. tests/full has every call, with fewer devices and without memory pools too; here every third, another third for each of the errors.
"""

import gc

import pytest
import standin
import test_driver_failures as failures

pytestmark = standin.needs_standin
BROKEN = 700  # CUDA_ERROR_ILLEGAL_ADDRESS
CODES = {**failures.CODES, 1: "CUDA_ERROR_INVALID_VALUE"}
EVERY = 3


# --- the program, in its own process


def steps(k):
    """Functions that make the program, in order; each leaves nothing behind."""
    import numpy as np
    from pyptx import cuda

    @cuda.vectorize(["float64(float64, float64)"])
    def both(x, y):
        return x + 2 * y

    total = cuda.reduce(lambda a, b: a + b)
    compiled = failures.compiled

    def arrays(k):
        x = cuda.to_device(np.arange(1000.0))
        y = (x + 1) * x
        x[::2] = y[1::2]
        x[x.size // 2 :].copy_to_host()
        cuda.zeros((30, 40)).T.copy_to_host()
        assert cuda.to_device(np.zeros(3, "f4,i4")).copy_to_host().dtype.names

    def reductions(k):
        x = cuda.to_device(np.ones(5000))
        total(x)
        x.sum(), x.reshape(50, 100).max(axis=0)
        both(x, x)

    def copied_arguments(k):
        a, b = np.zeros(300), np.zeros(300)
        compiled["add"][3, 100](cuda.InOut(a), 1.0)
        compiled["add"][3, 100](cuda.Out(b), 1.0)
        compiled["add"][3, 100](np.zeros((4, 300))[::2, :150].ravel(), 1.0)

    def streams_with_pinned_memory(k):
        p = cuda.pinned_array(4096)
        with cuda.stream() as s:
            x = cuda.to_device(p, stream=s)
            compiled["stops"][1, 8, s](x, 1.0)
            x.copy_to_host(p, stream=s)
            bound = compiled["add"][1, 8, s].bind(x, 1.0)
            bound()
            s.synchronize()

    def managed(k):
        m = cuda.managed_array(64)
        m[:] = 1
        compiled["add"][1, 64](m, 1.0)
        cuda.synchronize()

    return [arrays, reductions, copied_arguments, streams_with_pinned_memory, managed,
            failures.modules, failures.launch, failures.copy, failures.memory, failures.streams, failures.graphs, failures.follow]


def prepared():
    """(control, kernels, steps), where everything has been compiled and used."""
    control, k = standin.driver(), failures.kernels()
    from pyptx import cuda

    failures.compiled = {name: cuda.jit(f) for name, f in k.items()}
    program = steps(k)
    for _ in range(2):
        for step in program:
            step(k)
        failures.settle()
    gc.freeze()
    return control, k, program


def complaint(control, step, k, code):
    """What is wrong with how a step takes the failure that is planned; None: nothing."""
    from pyptx import cuda

    try:
        step(k)
    except cuda.CudaAPIError as error:
        call = control.fired_call().decode()
        if error.call != call or error.result != code or CODES[code] not in str(error):
            return f"{call} failed, and the error is {error}"
    except ValueError as error:  # what the driver calls an invalid value may be the user's
        if code != 1 or not control.fired():
            return f"ValueError: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    else:
        call = control.fired_call().decode()
        if code == 1 and call == "cuFuncGetParamInfo":
            return None  # that is how the driver says that there are no more parameters
        if control.fired() and call not in failures.SILENT and call not in failures.STAGING:
            return f"{call} failed, and there is no error"
    return None


def one_by_one(code, every=1, first=0):
    """Prints how many calls failed."""
    control, k, program = prepared()
    problems, before, tried = [], failures.live(control), 0
    for step in program:
        control.forget()
        step(k)
        calls = control.calls(None)
        failures.settle()
        for nth in range(1 + (first + tried) % every, calls + 1, every):
            control.forget()
            control.fail(None, nth, code)
            wrong = complaint(control, step, k, code)
            call, fired = control.fired_call().decode(), control.fired()
            control.fail(None, 0, 0)
            misused = control.misuse()
            failures.settle()
            tried += fired
            what = f"{step.__name__}, call {nth}, {call} fails with {code}"
            if wrong:
                problems.append(f"{what}: {wrong}")
            if call in failures.LEAKS:
                before = failures.live(control)
            elif failures.live(control) != before:
                problems.append(f"{what}: leaves {before} -> {failures.live(control)}")
            try:
                step(k)
            except BaseException as error:
                problems.append(f"{what}: and then {type(error).__name__}: {error}")
            failures.settle()
            before = failures.live(control)
            if misused and call not in failures.LEAKS:
                raise AssertionError(f"{what}: the driver was used wrongly\n" + "\n".join(problems))
    assert not problems, "\n".join(problems)
    print("failed", tried)


def from_here_on():
    """Prints at how many steps the context broke."""
    from pyptx import cuda

    control, k, program = prepared()
    problems = []
    for number, broken in enumerate(program):
        for step in program[:number]:
            step(k)
        control.stick(BROKEN)
        for step in program[number : number + 2]:
            try:
                step(k)
            except cuda.ContextLostError as error:
                if "reset" not in str(error):
                    problems.append(f"{step.__name__}: the error does not say what to do: {error}")
            except BaseException as error:
                problems.append(f"{step.__name__}: {type(error).__name__}: {error}")
            else:
                problems.append(f"{step.__name__}: no error in a broken context")
        control.stick(0)
        gc.collect()
        cuda.get_current_device().reset()
        failures.compiled = {name: cuda.jit(f) for name, f in k.items()}
        program = steps(k)
        for step in program:
            try:
                step(k)
            except BaseException as error:
                problems.append(f"{step.__name__} after a reset at {broken.__name__}: {type(error).__name__}: {error}")
        failures.settle()
    assert not problems, "\n".join(problems)
    print("broken", number + 1)


# --- the tests


def swept(call, **env):
    return standin.run(f"import test_driver_sweep as t; t.{call}", PYPTX_ADVICE="0", **{"PYPTX_STANDIN_DEVICES": "2", **env})


@pytest.mark.parametrize("number, code", list(enumerate(CODES)))
def test_calls_fail_one_by_one(number, code):
    out = swept(f"one_by_one({code}, {EVERY}, {number})")
    assert int(out.split("failed ")[-1]) > 100


def test_the_context_breaks_at_each_step():
    assert int(swept("from_here_on()").split("broken ")[-1]) == 12
