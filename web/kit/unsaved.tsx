import { Button, Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useRef } from 'react'

/**
 * Asks before the page of a changed form is left. The answer is a dialog to render, and a function that lets the next
 * navigation pass, for forms that lead to another page once they are saved.
 */
export const useUnsaved = (isChanged: boolean) => {
  const isAllowed = useRef(false)
  const blocks = () => isChanged && !isAllowed.current
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: blocks,
    enableBeforeUnload: blocks,
    withResolver: true,
  })
  const dialog = status === 'blocked' && (
    <Modal opened onClose={reset} title="Leave without saving?">
      <p>What was changed in the form is lost.</p>
      <div className="bar" style={{ marginTop: 16, justifyContent: 'flex-end' }}>
        <Button variant="default" data-autofocus onClick={reset}>
          Stay
        </Button>
        <Button color="red" onClick={proceed}>
          Leave
        </Button>
      </div>
    </Modal>
  )
  return {
    dialog,
    allow: () => {
      isAllowed.current = true
    },
  }
}

/** Whether two drafts, which are plain data, differ. */
export const isChangedFrom = (initial: unknown, draft: unknown): boolean =>
  JSON.stringify(initial) !== JSON.stringify(draft)
