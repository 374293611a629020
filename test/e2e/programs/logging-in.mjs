/**
 * Logs in at a host, which saves the key in the home directory, and traces into a project named without a team.
 *
 *   HOME=… WANDB_BASE_URL=… node logging-in.mjs <project> <key>
 */
import * as weave from 'weave'

const [, , project, key] = process.argv
await weave.login(key, new URL(process.env.WANDB_BASE_URL).host)
delete process.env.WANDB_API_KEY
const client = await weave.init(project)
await weave.op((text) => text, { name: 'echo' })('once')
await client.waitForBatchProcessing()
console.log(JSON.stringify({ project: client.projectId, calls: (await client.getCalls()).length }))
