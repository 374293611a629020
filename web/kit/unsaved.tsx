import { Button, Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useRef, useState, type ReactNode } from 'react'

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
    <Question title="Leave without saving?" action="Leave" onStay={reset} onLeave={proceed} />
  )
  return {
    dialog,
    allow: () => {
      isAllowed.current = true
    },
  }
}

/** A dialog with a form, which asks before a changed form is closed or its page is left. */
export const FormDialog = ({
  title,
  isChanged,
  onClose,
  children,
}: {
  readonly title: string
  readonly isChanged: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}) => {
  const [isAsking, setAsking] = useState(false)
  const unsaved = useUnsaved(isChanged)
  return (
    <>
      <Modal
        opened
        onClose={() => (isChanged ? setAsking(true) : onClose())}
        closeOnEscape={!isAsking}
        title={title}
      >
        {children}
      </Modal>
      {isAsking && (
        <Question
          title="Close without saving?"
          action="Discard"
          onStay={() => setAsking(false)}
          onLeave={onClose}
        />
      )}
      {unsaved.dialog}
    </>
  )
}

const Question = ({
  title,
  action,
  onStay,
  onLeave,
}: {
  readonly title: string
  readonly action: string
  readonly onStay: () => void
  readonly onLeave: () => void
}) => (
  <Modal opened onClose={onStay} title={title}>
    <p>What was changed in the form is lost.</p>
    <div className="bar" style={{ marginTop: 16, justifyContent: 'flex-end' }}>
      <Button variant="default" data-autofocus onClick={onStay}>
        Stay
      </Button>
      <Button color="red" onClick={onLeave}>
        {action}
      </Button>
    </div>
  </Modal>
)

/** Whether two drafts, which are plain data, differ. */
export const isChangedFrom = (initial: unknown, draft: unknown): boolean =>
  JSON.stringify(initial) !== JSON.stringify(draft)
