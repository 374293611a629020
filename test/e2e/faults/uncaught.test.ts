import assert from 'node:assert/strict'
import { startRunningService } from '../../support/running-service.js'
import { until } from '../../support/until.js'

describe('an error that nothing catches', () => {
  it('is one line of the log with its cause, and ends the process', async () => {
    const reject = 'process.on("SIGUSR2", () => Promise.reject(new Error("lost in a package")))'
    const service = await startRunningService({
      NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(reject)}"`,
    })

    const { code, signal } = await service.kill('SIGUSR2')
    await until(() => service.output().includes('process.crashed'))

    const lines = service.output().split('\n')
    const [line] = lines.filter((text) => text.includes('process.crashed'))
    assert.match(line!, /"level":"error".*"origin":"unhandledRejection".*lost in a package/)
    assert.ok(code !== 0, String(signal))
    await service.remove()
  })
})
