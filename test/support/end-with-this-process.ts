import type { ChildProcess } from 'node:child_process'

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** However this process ends, the child does not outlive it. */
export const endWithThisProcess = (child: ChildProcess): void => {
  running.add(child)
  child.once('exit', () => running.delete(child))
}
