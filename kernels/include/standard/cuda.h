// Built in: nothing to include.
#pragma once
