import { canonicalJson } from '../json/canonical.js'
import type { FeedbackContent } from './events.js'

/** Whether two pieces of feedback say the same, wherever their payload lies. */
export const sameFeedback = (a: FeedbackContent, b: FeedbackContent): boolean =>
  fingerprint(a) === fingerprint(b)

const fingerprint = (content: FeedbackContent): string =>
  canonicalJson({
    ...content,
    spilled: Object.fromEntries(
      Object.entries(content.spilled).map(([field, { canonical }]) => [field, canonical]),
    ),
  })
