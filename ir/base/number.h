/* Number: doubles as text, with a point whatever the process's locale says. */
#ifndef PYPTX_IR_BASE_NUMBER_H
#define PYPTX_IR_BASE_NUMBER_H

enum { NUMBER_TEXT = 32 };

/* As strtod(). */
double number_read(const char *text, char **end);
/* As few digits, but at least 15, as read back as v. */
void number_write(char text[NUMBER_TEXT], double v);

#endif
