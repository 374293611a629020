/**
 * What a program with a wrong key can tell its user. Prints it as JSON.
 *
 *   WF_TRACE_SERVER_URL=… WANDB_API_KEY=… node wrong-key.mjs <entity>/<project>
 */
import * as weave from 'weave'

const project_id = process.argv[2]
const client = await weave.init(project_id)
const refusals = [
  await client.traceServerApi.call.callReadCallReadPost({ project_id, id: 'any' }).catch((error) => error),
  await client.publish({ any: 'thing' }, 'thing').catch((error) => error),
]
console.log(JSON.stringify(refusals.map(({ status, error }) => ({ status, ...error }))))
