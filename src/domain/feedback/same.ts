import { canonicalJson } from '../../kernel/json/canonical.js'
import type { FeedbackContent } from './events.js'

/** Equal content, whether the payload is inline or spilled. */
export const sameFeedback = (a: FeedbackContent, b: FeedbackContent): boolean =>
  fingerprint(a) === fingerprint(b)

const fingerprint = (content: FeedbackContent): string =>
  canonicalJson({
    ...content,
    spilled: Object.fromEntries(
      Object.entries(content.spilled).map(([field, { canonical }]) => [field, canonical]),
    ),
  })
