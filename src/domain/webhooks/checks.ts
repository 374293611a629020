import type { Problem } from '../../kernel/codec/problem.js'
import { urlProblem } from '../secrets/credentials.js'
import { MOST_RETRIES, type WebhookContent } from './webhook.js'

/** With 20 % jitter it still ends within the five days after which a delivery is given up. */
const LONGEST_WAIT_S = 4 * 24 * 3600

/** Validation beyond the types of the fields. Values are never quoted. */
export const webhookProblems = ({ url, retry_waits_s }: WebhookContent): readonly Problem[] => {
  const problems: Problem[] = []
  const add = (loc: Problem['loc'], msg: string) => problems.push({ loc, type: 'value_error', msg })
  const wrongUrl = urlProblem(url, 'an access token')
  if (wrongUrl !== undefined) add(['url'], wrongUrl)
  const waits = retry_waits_s ?? []
  if (waits.length > MOST_RETRIES) add(['retry_waits_s'], `List should have at most ${MOST_RETRIES} items`)
  waits.slice(0, MOST_RETRIES).forEach((wait, place) => {
    if (wait < 0 || wait > LONGEST_WAIT_S)
      add(['retry_waits_s', place], `Input should be from 0 to ${LONGEST_WAIT_S} seconds`)
  })
  return problems
}
