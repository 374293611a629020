import type { ErasureRules } from '../erased-content.js'

export const annotationQueueErasures: ErasureRules = {
  AnnotationQueueCreated: () => ({ description: '' }),
  AnnotationQueueChanged: () => ({ description: '' }),
}
