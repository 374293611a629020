import { isWithoutFigures } from '../kernel/codec/erasable.js'
import { withDigitsOf } from '../kernel/json/digits.js'
import type { JsonObject } from '../kernel/json/json.js'
import type { ErasureRules } from './erased-content.js'
import { annotationQueueErasures } from './annotation-queues/erased.js'
import { artifactErasures } from './artifacts/erased.js'
import { erasedCallData } from './calls/erased.js'
import { erasureErasures } from './erasures/erased.js'
import { evaluationErasures } from './evaluations/erased.js'
import { erasedFeedbackData } from './feedback/erased.js'
import { fileErasures } from './files/erased.js'
import { intakeErasures } from './intake/erased.js'
import { objectErasures } from './objects/erased.js'
import { projectErasures } from './projects/erased.js'
import { runErasures } from './runs/erased.js'
import { tableErasures } from './tables/erased.js'
import { trainingErasures } from './training/erased.js'
import { webhookErasures } from './webhooks/erased.js'

const RULES: ErasureRules = {
  ...{ ...annotationQueueErasures, ...artifactErasures, ...erasureErasures, ...evaluationErasures },
  ...{ ...fileErasures, ...intakeErasures, ...objectErasures, ...projectErasures, ...runErasures },
  ...{ ...tableErasures, ...trainingErasures, ...webhookErasures },
}

/**
 * What an erasure leaves of the data of an event: ids, names, times and figures. Undefined for events without content.
 * What is left is valid for the codec of the event, and erasing it again changes nothing.
 */
export const erasedData = (type: string, data: JsonObject): JsonObject | undefined => {
  if (isWithoutFigures(data)) return data
  const ofCall = erasedCallData(type, data) ?? erasedFeedbackData(type, data)
  if (ofCall !== undefined || !Object.hasOwn(RULES, type)) return ofCall
  return withDigitsOf(data, { ...data, ...RULES[type]!(data), erased: true })
}
